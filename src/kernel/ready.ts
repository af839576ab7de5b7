/** A value that may be there already. Most answers are, and then nothing should wait for a turn of the event loop. */
export type Ready<T> = T | Promise<T>;

/** Goes on at once when the value is there, later when it is not. */
export function whenReady<T, U>(value: Ready<T>, next: (value: T) => Ready<U>): Ready<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
