/** Milliseconds in which a run was at work. Time spent waiting for people, or paused, is none. */
export class ActiveTime {
  #total: number;
  #since: number | null = null;

  constructor(before: number) {
    this.#total = before;
  }

  get milliseconds(): number {
    return Math.round(this.#total + (this.#since === null ? 0 : performance.now() - this.#since));
  }

  setActive(isActive: boolean): void {
    if (isActive) {
      this.#since ??= performance.now();
      return;
    }
    if (this.#since !== null) this.#total += performance.now() - this.#since;
    this.#since = null;
  }
}
