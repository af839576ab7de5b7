import type { FlowInput, FlowNode } from '../flow/model.ts';
import { anchorsOf, paramsOf } from './handles.ts';

/** How tall the canvas of Flowise 3.1.4 draws each part, measured over its 281 node types and rounded up. */
const FRAME = 190;
const ANCHOR = 50;
const PARAM = 100;
const TALL_PARAMS: Readonly<Record<string, number>> = {
  file: 125,
  code: 280,
  multiOptions: 175,
  asyncMultiOptions: 105,
  conditionFunction: 115,
};
const ROW = 30;
const LABEL_OF_ROWS = 80;
const WARNING = 110;
const MORE_PARAMS = 60;
const OUTPUT_CHOICE = 35;

/** Of a node whose inputs say whether they are shown; params behind the button for more take no room. */
export function heightOf(node: FlowNode): number {
  const params = paramsOf(node);
  const isDrawn = (input: FlowInput) => input.display !== false && !input.additionalParams && !input.hidden;
  const outputs = node.data.outputAnchors ?? [];
  return (
    FRAME +
    ANCHOR * anchorsOf(node).filter(isDrawn).length +
    params.filter(isDrawn).reduce((sum, param) => sum + heightOfParam(param), 0) +
    (params.some(({ additionalParams }) => additionalParams) ? MORE_PARAMS : 0) +
    (outputs.some(({ type }) => type === 'options') ? OUTPUT_CHOICE : 0)
  );
}

function heightOfParam({ type, rows, warning }: FlowInput): number {
  const widget = typeof rows === 'number' ? LABEL_OF_ROWS + ROW * rows : (TALL_PARAMS[type] ?? PARAM);
  return widget + (warning ? WARNING : 0);
}
