/** Lets one at a time have a thing, in the order in which they asked. */
export class Turn {
  #taken = false;
  readonly #waiting: (() => void)[] = [];

  /** Takes it if it is free; never waits. */
  tryTake(): boolean {
    if (this.#taken) return false;
    this.#taken = true;
    return true;
  }

  async take(): Promise<void> {
    if (this.tryTake()) return;
    await new Promise<void>((mine) => this.#waiting.push(mine));
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#taken = false;
  }
}
