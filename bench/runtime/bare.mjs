// The limit: a loop that writes what a step must leave behind, with prepared statements and nothing else. Two transactions
// a step, because a step that is begun and a step that is done are two things that must both survive.
import BetterSqlite3 from 'better-sqlite3';

export function openBare(file, synchronous) {
  const db = new BetterSqlite3(file);
  db.pragma('journal_mode = WAL');
  db.pragma(`synchronous = ${synchronous}`);
  db.exec(`create table if not exists steps (id integer primary key, run integer, node integer, status text, input text, output text, started text, finished text);
    create table if not exists artifacts (id integer primary key, step integer, payload text);
    create table if not exists events (id integer primary key, run integer, sequence integer, type text, payload text, unique (run, sequence))`);
  const begin = db.prepare('begin immediate');
  const commit = db.prepare('commit');
  const start = db.prepare("insert into steps (run, node, status, input, started) values (?, ?, 'running', ?, ?)");
  const done = db.prepare("update steps set status = 'succeeded', output = ?, finished = ? where id = ?");
  const artifact = db.prepare('insert into artifacts (step, payload) values (?, ?)');
  const event = db.prepare('insert into events (run, sequence, type, payload) values (?, ?, ?, ?)');
  let run = 0;
  return {
    linear: (n) => async () => {
      run += 1;
      let sequence = 0;
      const begun = performance.now();
      for (let node = 1; node <= n; node += 1) {
        const now = new Date().toISOString();
        begin.run();
        const { lastInsertRowid: id } = start.run(run, node, `{"upstream":[[${node},${node}]]}`, now);
        event.run(run, sequence + 1, 'running', `{"node":${node}}`);
        commit.run();
        begin.run();
        done.run(JSON.stringify({ at: node }), now, id);
        artifact.run(id, null);
        event.run(run, sequence + 2, 'succeeded', `{"node":${node}}`);
        event.run(run, sequence + 3, 'artifact', `{"node":${node}}`);
        commit.run();
        sequence += 3;
      }
      return performance.now() - begun;
    },
    close: () => db.close(),
  };
}
