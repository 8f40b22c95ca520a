/** Functions that learn of changes. */
export class Listeners<Args extends unknown[] = []> {
  readonly #all = new Set<(...args: Args) => void>()

  /** Returns the function that removes the listener. */
  add = (listener: (...args: Args) => void): (() => void) => {
    this.#all.add(listener)
    return () => {
      this.#all.delete(listener)
    }
  }

  call(...args: Args): void {
    for (const listener of this.#all) listener(...args)
  }
}
