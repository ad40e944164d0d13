"""Events of a stream: streaming frames of the sources that are named on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ensue.cli.spark.endpoints import FILES, TABLES, Endpoint
from ensue.cli.spark.reading import text_options, with_known_times
from ensue.cli.spark.text_files import matching, taken_apart, with_file_name
from ensue.cli.spark.text_schema import CORRUPT, FORMATS, assumed_schema, text_schema
from ensue.data import Columns, DataError
from ensue.data.columns import TOGETHER, TextFiles, find_layout
from ensue.records import dataclass

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from ensue.program import Program


@dataclass(frozen=True)
class Arriving:
    """Reader of a stream's events. `schema` is that of --schema, as SQL has it."""

    spark: SparkSession
    program: Program
    columns: Columns
    schema: str | None
    options: Mapping[str, str]

    def frames(self, sources: Endpoint | dict[str, Endpoint]) -> tuple[DataFrame | dict[str, DataFrame], Columns]:
        """The streaming frames of sources, and how their columns are to be read."""
        columns: list[Columns] = []
        found: DataFrame | dict[str, DataFrame]
        if isinstance(sources, dict):
            found = {name: self._frame(source, name, columns) for name, source in sources.items()}
        else:
            found = self._frame(sources, None, columns)
        chosen = next((each for each in columns if each.times != self.columns.times), self.columns)
        return found, replace(chosen, files=TextFiles())

    def _frame(self, source: Endpoint, only: str | None, columns: list[Columns]) -> DataFrame:
        reader = self.spark.readStream.format(source.format)
        if self.columns.files.lines is not None:
            return self._lines(source, only, columns)
        if source.format == "kafka":
            return self._kafka(source, only)
        if source.format in FILES:
            return self._files(source, only, columns)
        if source.format in TABLES:
            return self.spark.readStream.options(**self.options).table(source.where)
        reader = reader.options(**self.options)
        if self.schema is not None:
            reader = reader.schema(self.schema)
        return reader.load(source.where) if source.where else reader.load()

    def _lines(self, source: Endpoint, only: str | None, columns: list[Columns]) -> DataFrame:
        """Lines of text that arrive in a folder. Those that do not match are all null, and so take no part."""
        files = self.columns.files
        if source.format != "text":
            raise DataError(f"--lines takes apart lines of text: name the source as text:{source.where}.")
        lines = self.spark.readStream.options(**self.options).text(source.where)
        there = self.spark.read.options(**self.options).text(source.where)
        columns.append(with_known_times(self.columns, matching(there, str(files.lines)), only))
        return taken_apart(with_file_name(lines, files), str(files.lines))

    def _files(self, source: Endpoint, only: str | None, columns: list[Columns]) -> DataFrame:
        """Files that arrive in a folder; existing ones determine the schema, as far as the rules do not."""
        schema = self._schema_of_files(source, only, columns)
        reader = self.spark.readStream.format(source.format)
        if source.format not in FORMATS:
            frame = reader.options(**self.options).schema(schema).load(source.where)
            return with_file_name(frame, self.columns.files)
        options = text_options(self.columns.files, [source.where], self.options)
        reader = reader.options(**{"header": "true", **options}).option("columnNameOfCorruptRecord", CORRUPT)
        frame = with_file_name(reader.schema(_with(schema, CORRUPT)).load(source.where), self.columns.files)
        return self._without_unreadable(frame, only)

    def _kafka(self, source: Endpoint, only: str | None) -> DataFrame:
        """The JSON that messages hold."""
        from pyspark.sql import functions as f

        servers, topic = source.servers_and_topic
        schema = self._given_schema() or assumed_schema(self.program, only, self.columns)
        reader = self.spark.readStream.format("kafka").option("kafka.bootstrap.servers", servers)
        messages = reader.options(**{"subscribe": topic, "startingOffsets": "earliest", **self.options}).load()
        text = f.col("value").cast("string")
        row = f.from_json(text, _with(schema, CORRUPT), {"columnNameOfCorruptRecord": CORRUPT})
        return self._without_unreadable(messages.select(row.alias("row")).select("row.*"), only)

    def _without_unreadable(self, frame: DataFrame, only: str | None) -> DataFrame:
        """Frame in which rows with a value that is not of its declared type have no time, so that they are rejected."""
        from pyspark.sql import functions as f

        readable = f.col(CORRUPT).isNull()
        named = {name: name for name in frame.columns} | dict(self.columns.renamed)
        names = [*named, *(name for name in self.columns.outside if name not in named)]
        layout = find_layout(names, self.columns, only is not None, "The source")
        held = {part.strip() for n in (layout.start, layout.end, layout.instant) if n for part in n.split(TOGETHER)}
        times = {named.get(name, name).split(".")[0] for name in held}
        return frame.withColumns({name: f.when(readable, f.col(f"`{name}`")) for name in times}).drop(CORRUPT)

    def _given_schema(self) -> StructType | None:
        from pyspark.sql.types import DataType, StructType

        if self.schema is None:
            return None
        found = DataType.fromDDL(self.schema)
        assert isinstance(found, StructType)
        return found

    def _schema_of_files(self, source: Endpoint, only: str | None, columns: list[Columns]) -> StructType:
        from pyspark.errors import AnalysisException

        given = self._given_schema()
        if given is not None:
            return given
        try:
            if source.format in FORMATS:
                options = text_options(self.columns.files, [source.where], self.options)
                text = text_schema(self.spark, self.program, only, self.columns, source.format, [source.where], options)
                columns.append(text.columns)
                return text.schema
            return self.spark.read.format(source.format).options(**self.options).load(source.where).schema
        except (AnalysisException, DataError):
            if source.format != "csv" and self._is_empty(source):
                return assumed_schema(self.program, only, self.columns)
            if self._is_empty(source):
                raise DataError(
                    f"There is no file in {source.where} yet to tell the order of the columns of CSV: say it with "
                    "--schema, as in --schema 'type string, time timestamp, id bigint'."
                ) from None
            raise

    def _is_empty(self, source: Endpoint) -> bool:
        """True if there is no file yet."""
        from pyspark.errors import AnalysisException

        try:
            return self.spark.read.format("binaryFile").load(source.where).select("path").isEmpty()
        except AnalysisException:
            return False


def _with(schema: StructType, name: str) -> StructType:
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType([*schema.fields, StructField(name, StringType())])
