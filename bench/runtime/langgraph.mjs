// The same graphs on LangGraph.js with its SQLite saver: each step durable before the next begins, the same pragmas.
import { BetterSqlite3 } from './sqlite.mjs';

export async function openLangGraph(file, synchronous) {
  const { Annotation, END, START, StateGraph } = await import('@langchain/langgraph');
  const { SqliteSaver } = await import('@langchain/langgraph-checkpoint-sqlite');
  const connection = new BetterSqlite3(file);
  connection.pragma('journal_mode = WAL');
  connection.pragma(`synchronous = ${synchronous}`);
  const checkpointer = new SqliteSaver(connection);
  const State = Annotation.Root({ at: Annotation({ reducer: (_, next) => next, default: () => 0 }) });
  let thread = 0;
  const runner = (graph, limit) => {
    const app = graph.compile({ checkpointer });
    return async () => {
      thread += 1;
      const begun = performance.now();
      await app.invoke(
        { at: 0 },
        { configurable: { thread_id: `t${thread}` }, recursionLimit: limit, durability: 'sync' },
      );
      return performance.now() - begun;
    };
  };
  return {
    linear: (n) => {
      const graph = new StateGraph(State);
      for (let at = 1; at <= n; at += 1) graph.addNode(`t${at}`, () => ({ at }));
      graph.addEdge(START, 't1');
      for (let at = 1; at < n; at += 1) graph.addEdge(`t${at}`, `t${at + 1}`);
      graph.addEdge(`t${n}`, END);
      return runner(graph, n + 10);
    },
    fan: (n) => {
      const graph = new StateGraph(State);
      graph.addNode('a', () => ({ at: 0 })).addNode('z', () => ({ at: -1 }));
      graph.addEdge(START, 'a');
      const names = [];
      for (let at = 1; at <= n; at += 1) {
        graph.addNode(`t${at}`, () => ({ at }));
        graph.addEdge('a', `t${at}`);
        names.push(`t${at}`);
      }
      graph.addEdge(names, 'z').addEdge('z', END);
      return runner(graph, 20);
    },
    close: () => connection.close(),
  };
}
