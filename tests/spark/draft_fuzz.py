import sys,time,warnings,os; sys.path.insert(0,'/tmp/wt-spark/src'); sys.path.insert(0,'/tmp/wt-spark')
os.environ['PYTHONPATH']='/tmp/wt-spark/src'; warnings.simplefilter('ignore')
import ensue
from hypothesis import given, settings, HealthCheck, strategies as st, seed, Phase
from tests.random_programs import programs, streams, given_types
from tests.agreement import meaning, difference, as_tables, Detection
from ensue.spark.local import local_session
s=local_session(cores=2, settings={"spark.sql.shuffle.partitions":"2","spark.sql.adaptive.enabled":"false"})
began=time.time(); n=[0,0,0]
@seed(int(sys.argv[2]))
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck), database=None, phases=[Phase.generate])
@given(programs(most_rules=2), st.data())
def go(text, data):
    if time.time()-began>float(sys.argv[1]): return
    try: p=ensue.compile(text)
    except ensue.RuleError: return
    ev=data.draw(streams(20,types=given_types(p)))
    if not ev: return
    want=meaning(p,ev,None)
    if isinstance(want,type): return
    derived=[x for x,e in p.typed.events.items() if e.derived]
    try:
        frames={k:s.createDataFrame(v) for k,v in as_tables(p,ev).items()}
        got=[]
        for e in derived:
            f=p.detect(frames,emit=[e]).toArrow()
            for r in f.to_pylist():
                r.pop('type'); a,b=r.pop('start'),r.pop('end'); got.append(Detection(e,a,b,r))
        got.sort(key=lambda d:(d.end,d.start)); 
        d=difference(sorted(want,key=lambda d:(d.end,d.start)),got)
        n[0]+=1; n[1]+=len(want)
        if d and 'order of' not in d: n[2]+=1; print('DIFF',text[text.index('d0('):][:300],d[:300],flush=True)
    except Exception as x:
        n[2]+=1; print('ERR',text.split('reach(q, r).')[-1][:300].replace('\n',' '),type(x).__name__,str(x)[:250].replace('\n',' | '),flush=True)
go(); print(n)
