import type { Chatflow, ChatflowType, NewChatflow } from '../flowise/index.ts';

/** Beside its flow, what a version keeps of a chatflow and a restore puts back. */
const FLAGS = ['deployed', 'isPublic'] as const;
const TEXTS = ['category'] as const;

/** Settings that may hold keys of other services: they are carried from server to server, never stored or shown. */
const SETTINGS = ['chatbotConfig', 'apiConfig', 'analytic', 'speechToText', 'textToSpeech', 'followUpPrompts'] as const;

export type CarriedFields = Pick<NewChatflow, (typeof FLAGS)[number] | (typeof TEXTS)[number]>;

export function carriedFields(chatflow: Chatflow): CarriedFields {
  const fields: CarriedFields = {};
  for (const name of FLAGS) fields[name] = chatflow[name] === true;
  for (const name of TEXTS) fields[name] = chatflow[name] ?? null;
  return fields;
}

/** For another server: the settings too, where there are any. */
export function settingsOf(chatflow: Chatflow): Partial<NewChatflow> {
  const held = SETTINGS.filter((name) => typeof chatflow[name] === 'string' && chatflow[name] !== '');
  return Object.fromEntries(held.map((name) => [name, chatflow[name]])) as Partial<NewChatflow>;
}

/** Flowise 2 leaves the type of a plain chatflow out. */
export function typeOf(chatflow: Pick<Chatflow, 'type'>): ChatflowType {
  return chatflow.type ?? 'CHATFLOW';
}
