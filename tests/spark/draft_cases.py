import sys,time,warnings,os; sys.path.insert(0,'/tmp/wt-spark/src'); sys.path.insert(0,'/tmp/wt-spark')
os.environ['PYTHONPATH']='/tmp/wt-spark/src'; warnings.simplefilter('ignore')
import ensue, ensue.testing as T
from pathlib import Path
from ensue.spark.local import local_session
s=local_session(cores=2, settings={"spark.sql.shuffle.partitions":"2","spark.sql.adaptive.enabled":"false"})
import pyarrow as pa
def detect_tables(self, tables, until, emit=None, engine=None):
    frames={k:s.createDataFrame(v) for k,v in tables.items()}
    out={}
    for e in emit:
        f=self.detect(frames,until,emit=[e]).toArrow()
        out[e]=f.select([n for n in f.column_names if n!='type'])
    return out,None
P=type('P',(),{})
ok=bad=0; began=time.time(); errs={}
cases=[(p,ensue.compile(p)) for p in sorted(Path('/tmp/wt-spark/tests/cases').rglob('*.ensue'))]
cases=[c for c in cases if c[0].name in ('timers.ensue','timestamps.ensue')]
orig=ensue.Program.detect_tables
for path,prog in cases:
    for test in prog.typed.tests:
        if time.time()-began>float(sys.argv[1]): break
        try:
            ensue.Program.detect_tables=detect_tables
            try: o=T.run_test(prog,test)
            finally: ensue.Program.detect_tables=orig
            if o.passed: ok+=1
            else: bad+=1; print('BAD',path.name,test.title,str(o.error or o.differences)[:250],flush=True)
        except Exception as x:
            bad+=1; print('ERR',path.name,test.title,type(x).__name__,str(x)[-250:].replace('\n',' | '),flush=True)
print(ok,bad)
