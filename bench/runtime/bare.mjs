// The limit: a loop that writes what a step must leave behind (its row, its artifact, three events that can be replayed by
// stream), with prepared statements and nothing else. Two transactions a step, because a step that is begun and a step
// that is done are two things that must both survive. No scheduling, no owner, no input of the nodes before.
import { randomUUID } from 'node:crypto';
import { BetterSqlite3 } from './sqlite.mjs';

export function openBare(file, synchronous) {
  const db = new BetterSqlite3(file);
  db.pragma('journal_mode = WAL');
  db.pragma(`synchronous = ${synchronous}`);
  db.exec(`create table if not exists steps (id integer primary key, run integer, node integer, type text, sequence integer,
      status text, input text, output text, routing text, started text, finished text, unique (run, sequence));
    create table if not exists artifacts (id integer primary key, node integer, run integer, type text, retention text,
      expires text, payload text, created text);
    create table if not exists events (stream text, sequence integer, event_id text, type text, payload text, created text,
      primary key (stream, sequence))`);
  const begin = db.prepare('begin immediate');
  const commit = db.prepare('commit');
  const start = db.prepare(
    "insert into steps (run, node, type, sequence, status, input, started) values (?, ?, 'task', ?, 'running', ?, ?)",
  );
  const done = db.prepare("update steps set status = 'succeeded', output = ?, routing = ?, finished = ? where id = ?");
  const artifact = db.prepare(
    "insert into artifacts (id, node, run, type, retention, expires, created) values (?, ?, ?, 'task', 'ttl', ?, ?)",
  );
  const event = db.prepare('insert into events values (?, ?, ?, ?, ?, ?)');
  const told = (node, id, status) =>
    `{"flowchart_id":1,"flowchart_run_id":${run},"flowchart_node_id":${node},"flowchart_node_type":"task","node_run_id":${id},"status":"${status}","execution_index":1}`;
  let run = 0;
  return {
    linear: (n) => async () => {
      run += 1;
      let sequence = 0;
      const stream = `flowchart_run:${run}`;
      const begun = performance.now();
      for (let node = 1; node <= n; node += 1) {
        const now = new Date().toISOString();
        const tell = (type, text) => {
          sequence += 1;
          event.run(stream, sequence, randomUUID(), type, text, now);
        };
        begin.run();
        const input = `{"upstream":[[${node},${node}]],"dotted":[],"dashed":[],"total":${node}}`;
        const { lastInsertRowid: id } = start.run(run, node, node, input, now);
        tell('flowchart.node.updated', told(node, id, 'running'));
        commit.run();
        begin.run();
        done.run(
          JSON.stringify({ node_type: 'task', structured_output: { at: node }, attachments: [] }),
          '{}',
          now,
          id,
        );
        artifact.run(id, node, run, now, now);
        tell('flowchart.node.updated', told(node, id, 'succeeded'));
        tell('flowchart:node_artifact:persisted', told(node, id, 'persisted'));
        commit.run();
      }
      return performance.now() - begun;
    },
    close: () => db.close(),
  };
}
