"""Events of a stream: streaming frames of the sources that are named on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ensue.cli.spark.places import FILES, TABLES, Place
from ensue.cli.spark.text_schema import CORRUPT, FORMATS, assumed_schema, text_schema
from ensue.data import Columns, DataError
from ensue.data.columns import find_layout

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from ensue.program import Program


@dataclass(frozen=True)
class Arriving:
    """How the events of a stream are read. `schema` is that of --schema, as SQL has it."""

    spark: SparkSession
    program: Program
    columns: Columns
    schema: str | None
    options: Mapping[str, str]

    def frames(self, sources: Place | dict[str, Place]) -> DataFrame | dict[str, DataFrame]:
        """The streaming frames of sources."""
        if isinstance(sources, dict):
            return {name: self._frame(source, name) for name, source in sources.items()}
        return self._frame(sources, None)

    def _frame(self, source: Place, only: str | None) -> DataFrame:
        reader = self.spark.readStream.format(source.format)
        if source.format == "kafka":
            return self._kafka(source, only)
        if source.format in FILES:
            return self._files(source, only)
        if source.format in TABLES:
            return self.spark.readStream.options(**self.options).table(source.where)
        reader = reader.options(**self.options)
        if self.schema is not None:
            reader = reader.schema(self.schema)
        return reader.load(source.where) if source.where else reader.load()

    def _files(self, source: Place, only: str | None) -> DataFrame:
        """Files that arrive in a folder; what is there already says how they look, as far as the rules do not."""
        schema = self._schema_of_files(source, only)
        reader = self.spark.readStream.format(source.format)
        if source.format not in FORMATS:
            return reader.options(**self.options).schema(schema).load(source.where)
        reader = reader.options(**{"header": "true", **self.options}).option("columnNameOfCorruptRecord", CORRUPT)
        frame = reader.schema(_with(schema, CORRUPT)).load(source.where)
        return self._without_unreadable(frame, only)

    def _kafka(self, source: Place, only: str | None) -> DataFrame:
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
        """Rows with a value that is not of its declared type have no time, so that they take no part, and are told."""
        from pyspark.sql import functions as f

        layout = find_layout(frame.columns, self.columns, only is not None, "The source")
        readable = f.col(CORRUPT).isNull()
        times = {
            name: f.when(readable, f.col(f"`{name}`")) for name in {layout.start, layout.end, layout.instant} if name
        }
        return frame.withColumns(times).drop(CORRUPT)

    def _given_schema(self) -> StructType | None:
        from pyspark.sql.types import DataType, StructType

        if self.schema is None:
            return None
        found = DataType.fromDDL(self.schema)
        assert isinstance(found, StructType)
        return found

    def _schema_of_files(self, source: Place, only: str | None) -> StructType:
        from pyspark.errors import AnalysisException

        given = self._given_schema()
        if given is not None:
            return given
        try:
            if source.format in FORMATS:
                return text_schema(
                    self.spark, self.program, only, self.columns, source.format, [source.where], self.options
                )
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

    def _is_empty(self, source: Place) -> bool:
        """Whether there is no file yet."""
        from pyspark.errors import AnalysisException

        try:
            return self.spark.read.format("binaryFile").load(source.where).select("path").isEmpty()
        except AnalysisException:
            return False


def _with(schema: StructType, name: str) -> StructType:
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType([*schema.fields, StructField(name, StringType())])
