// Tells scrolling by the wheel from a drag of the thumb. Browsers report both as the same event.

/** Browsers scroll on for a moment after a notch. */
const afterMs = 400
const pixelsPerLine = 40

interface Notch {
  deltaY: number
  /** 0: pixels, 1: lines, 2: pages. */
  deltaMode: number
}

export class WheelTrace {
  #lastMs = Number.NEGATIVE_INFINITY
  #pixels = 0

  notch({ deltaY, deltaMode }: Notch, view: number, nowMs: number): void {
    if (nowMs - this.#lastMs > afterMs) this.#pixels = 0
    this.#lastMs = nowMs
    this.#pixels += Math.abs(deltaY) * (deltaMode === 0 ? 1 : deltaMode === 1 ? pixelsPerLine : view)
  }

  /** Whether the notches of the last moment account for a movement. */
  explains(pixels: number, nowMs: number): boolean {
    return nowMs - this.#lastMs <= afterMs && Math.abs(pixels) <= this.#pixels
  }
}
