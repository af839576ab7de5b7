// Graphs of trivial nodes, for the engine and for its peers.

/** start → n static tasks → end */
export function linear(n) {
  const nodes = [{ client_id: 's', node_type: 'start' }];
  const edges = [];
  let last = 's';
  for (let at = 1; at <= n; at += 1) {
    const id = `t${at}`;
    nodes.push({ client_id: id, node_type: 'task', config: { executor: 'static', output: { at } } });
    edges.push({ source: last, target: id, edge_mode: 'solid' });
    last = id;
  }
  return { nodes, edges };
}

/** start → 1 → n → 1 */
export function fan(n) {
  const task = (id, output) => ({ client_id: id, node_type: 'task', config: { executor: 'static', output } });
  const nodes = [{ client_id: 's', node_type: 'start' }, task('a', {}), task('z', {})];
  const edges = [{ source: 's', target: 'a', edge_mode: 'solid' }];
  for (let at = 1; at <= n; at += 1) {
    nodes.push(task(`t${at}`, { at }));
    edges.push(
      { source: 'a', target: `t${at}`, edge_mode: 'solid' },
      { source: `t${at}`, target: 'z', edge_mode: 'solid' },
    );
  }
  return { nodes, edges };
}
