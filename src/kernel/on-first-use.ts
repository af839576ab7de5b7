/** An object of asynchronous methods whose code loads with the first call of one of them. */
export function onFirstUse<T extends Asynchronous<T>>(load: () => Promise<T>): T {
  let loaded: Promise<T> | undefined;
  return new Proxy({} as T, {
    get: (_, method) => {
      // An object with `then` would be taken for a promise.
      if (method === 'then') return undefined;
      return async (...parameters: never[]) => {
        loaded ??= load();
        const methods = (await loaded) as Record<PropertyKey, (...parameters: never[]) => unknown>;
        return methods[method]?.(...parameters);
      };
    },
  });
}

type Asynchronous<T> = { [K in keyof T]: (...parameters: never[]) => Promise<unknown> };
