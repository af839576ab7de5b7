export const LIVE_REQUIREMENTS: Record<string, string> = {
  'FLR-fake-conforms': 'The fake Flowise answers every question of the conformance table as a real 3.1.4 did',
  'FLR-fake-two-generations': 'The fake Flowise asks for credentials as version 2 and as version 3 do',
  'FLR-fake-faults': 'Every fault can be had on any route, before and after the request took effect',
  'FLR-fake-canvas': 'What the canvas could not draw is found, and flows that it drew are not faulted',
  'FLR-fixtures-no-prose': 'Fixtures hold no sentence of the recordings; stripping them again changes nothing',
  'FLR-live-cases':
    'Create, update, remove, reconnect, bind, restore and promote pass on the fake server as on a real one',
};
