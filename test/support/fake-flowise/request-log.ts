/** One request as it arrived. */
export interface LoggedRequest {
  method: string;
  /** Below /api/v1, without the query; other paths whole. */
  path: string;
  query: URLSearchParams;
  /** Pattern of the route that took it, such as /nodes/:name; null when none did. */
  route: string | null;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

export class RequestLog {
  readonly all: LoggedRequest[] = [];

  add(request: LoggedRequest): void {
    this.all.push(request);
  }

  /** How many there were; of a method and of a route's pattern (or of an exact path) where those are given. */
  count(method?: string, route?: string): number {
    return this.of(method, route).length;
  }

  of(method?: string, route?: string): LoggedRequest[] {
    return this.all.filter(
      (request) =>
        (method === undefined || request.method === method) &&
        (route === undefined || request.route === route || request.path === route),
    );
  }

  /** `GET /nodes/:name` → how many. */
  counters(): Record<string, number> {
    const counters: Record<string, number> = {};
    for (const { method, route, path } of this.all) {
      const key = `${method} ${route ?? path}`;
      counters[key] = (counters[key] ?? 0) + 1;
    }
    return counters;
  }

  clear(): void {
    this.all.length = 0;
  }
}
