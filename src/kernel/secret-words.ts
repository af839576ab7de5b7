/**
 * Does a word look like a secret rather than like a word of a language or a name in code? Told by what it is made of:
 * letters with digits or signs among them, or capitals where no name has them.
 */
export function isValueLike(value: string): boolean {
  const word = value.replace(/[.,;:!?)]+$/, '');
  if (word.length < 6) return false;
  if (/\d/.test(word)) return true;
  if (/[A-Za-z][+=!@%^&*?~$][\w+=!@%^&*?~$]/.test(word)) return true;
  return word.length >= 8 && !isPath(word) && word.split(/[-_/]/).some(isOddlyWritten);
}

/** Long and of letters and digits: made by a machine, whatever it is called. */
export function isOpaque(value: string): boolean {
  return value.length >= 16 && /\d/.test(value) && /[A-Za-z]/.test(value) && /^[A-Za-z0-9+/_=.~-]+$/.test(value);
}

/** `input.password`, `this.config.token`: says where a value is. */
export function isPath(word: string): boolean {
  return /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/.test(word);
}

/** A single word of letters, perhaps several with dashes, as passphrases are. */
export function isBareWord(value: string): boolean {
  return /^[A-Za-z]+(?:[-_][A-Za-z]+)*[.!]?$/.test(value) && value.length >= 8;
}

/** `wJalrXUtnFEMI` is; `accessToken`, `OpenAIKey`, `README` and `word` are not. Very long runs of letters are too. */
function isOddlyWritten(word: string): boolean {
  if (!/^[A-Za-z]+$/.test(word)) return false;
  if (word.length > 24) return true;
  const isMixed = /[a-z]/.test(word) && /[A-Z]/.test(word);
  return (
    isMixed && word.length >= 8 && !/^(?:[a-z]{2,}|[A-Z]{1,4}[a-z]+)(?:[A-Z]{1,4}[a-z]{2,})*[A-Z]{0,4}$/.test(word)
  );
}
