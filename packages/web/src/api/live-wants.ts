// Which builds the stream has to tell the jobs of, when several tabs ask.

/** A build on the page, and up to when the page knows all of its changes. */
export interface Watched {
  id: string
  sinceMs: number
  /** The place of the snapshot in the stream. */
  cursor: string
}

interface Want {
  tab: string
  isVisible: boolean
  builds: readonly Watched[]
  atMs: number
}

/** The server tells the jobs of so many builds. */
const mostBuilds = 8
/** Browsers run the timers of hidden tabs once a minute. */
const forgottenMs = 150_000

export class Wants {
  readonly #byTab = new Map<string, Want>()

  set(want: Want): void {
    this.#byTab.set(want.tab, want)
  }

  remove(tab: string): void {
    this.#byTab.delete(tab)
  }

  /** The builds to watch: those of visible tabs first, then those asked for last. */
  choose(nowMs: number): Watched[] {
    for (const [tab, { atMs }] of this.#byTab) if (nowMs - atMs > forgottenMs) this.#byTab.delete(tab)
    const wants = [...this.#byTab.values()].sort(
      (a, b) => Number(b.isVisible) - Number(a.isVisible) || b.atMs - a.atMs,
    )
    const chosen = new Map<string, Watched>()
    for (const { builds } of wants) {
      for (const build of builds) {
        const before = chosen.get(build.id)
        if (before === undefined && chosen.size >= mostBuilds) continue
        if (before === undefined || build.sinceMs < before.sinceMs) chosen.set(build.id, build)
      }
    }
    return [...chosen.values()]
  }
}
