// How many pixels a millisecond of the waterfall takes. The scale is the style variable `--scale` of the scroller, so
// that zooming renders no row again.

const STEPS_S = [
  0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400,
]
const leastTickPx = 88
const mostPxPerSecond = 400

/** The step between two marks of the axis: the smallest of the round ones that leaves room for its label. */
export function tickStepMs(pxPerMs: number): number {
  const found = STEPS_S.find((seconds) => seconds * 1000 * pxPerMs >= leastTickPx)
  if (found !== undefined) return found * 1000
  const days = Math.ceil(leastTickPx / (86_400_000 * pxPerMs))
  return days * 86_400_000
}

export interface Marks {
  stepMs: number
  first: number
  /** Inclusive. */
  last: number
}

export class Timescale {
  #element: HTMLElement | null = null
  #namesWidth = 0
  #lengthMs = 1000
  #pxPerMs = 0.1
  #isFitted = true
  #marks: Marks = { stepMs: 1000, first: 0, last: 0 }
  readonly #listeners = new Set<() => void>()
  #window: HTMLElement | null = null

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The marks in view. The same object until they change. */
  marks = (): Marks => this.#marks

  /** The frame of the minimap. */
  setWindow = (element: HTMLElement | null): void => {
    this.#window = element
  }

  attach(element: HTMLElement): () => void {
    this.#element = element
    const stop = new AbortController()
    const { signal } = stop
    element.addEventListener('scroll', () => this.#update(), { passive: true, signal })
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey) return
      event.preventDefault()
      this.zoomBy(Math.exp(-event.deltaY * 0.005), event.clientX - element.getBoundingClientRect().left)
    }
    element.addEventListener('wheel', onWheel, { passive: false, signal })
    const sizes = new ResizeObserver(() => this.#resize())
    sizes.observe(element)
    return () => {
      stop.abort()
      sizes.disconnect()
      this.#element = null
    }
  }

  setLength(lengthMs: number): void {
    this.#lengthMs = lengthMs
    this.#resize()
  }

  fit(): void {
    this.#isFitted = true
    this.#resize()
  }

  /** The moment under `atPx` stays there. */
  zoomBy(factor: number, atPx?: number): void {
    const element = this.#element
    if (element === null) return
    const offset = (atPx ?? (element.clientWidth + this.#namesWidth) / 2) - this.#namesWidth
    const timeMs = (element.scrollLeft + offset) / this.#pxPerMs
    const least = this.#fittedScale()
    const next = Math.min(Math.max(mostPxPerSecond / 1000, least), Math.max(least, this.#pxPerMs * factor))
    this.#isFitted = next === least
    this.#setScale(next)
    element.scrollLeft = timeMs * next - offset
    this.#update()
  }

  /** Scrolls to a place, both given as a share of the whole. */
  scrollTo(x: number, y: number): void {
    const element = this.#element
    if (element === null) return
    const room = element.clientWidth - this.#namesWidth
    element.scrollTo({
      left: x * this.#lengthMs * this.#pxPerMs - room / 2,
      top: y * element.scrollHeight - element.clientHeight / 2,
    })
  }

  #fittedScale(): number {
    const room = (this.#element?.clientWidth ?? 0) - this.#namesWidth
    return Math.max(1, room) / this.#lengthMs
  }

  #resize(): void {
    if (this.#element === null) return
    this.#namesWidth = this.#element.querySelector<HTMLElement>('[data-names]')?.offsetWidth ?? 0
    const fitted = this.#fittedScale()
    if (this.#isFitted || this.#pxPerMs < fitted) this.#setScale(fitted)
    this.#update()
  }

  #setScale(pxPerMs: number): void {
    this.#pxPerMs = pxPerMs
    this.#element?.style.setProperty('--scale', `${pxPerMs}px`)
  }

  #update(): void {
    const element = this.#element
    if (element === null) return
    const stepMs = tickStepMs(this.#pxPerMs)
    const fromMs = element.scrollLeft / this.#pxPerMs
    const toMs = fromMs + (element.clientWidth - this.#namesWidth) / this.#pxPerMs
    const first = Math.max(0, Math.floor(fromMs / stepMs))
    const last = Math.floor(Math.min(toMs, this.#lengthMs) / stepMs)
    this.#showWindow(element, fromMs, toMs)
    const { stepMs: oldStepMs, first: oldFirst, last: oldLast } = this.#marks
    if (stepMs === oldStepMs && first === oldFirst && last === oldLast) return
    this.#marks = { stepMs, first, last }
    for (const listener of this.#listeners) listener()
  }

  /** Moves the frame of the minimap to what is in view. */
  #showWindow({ scrollTop, clientHeight, scrollHeight }: HTMLElement, fromMs: number, toMs: number): void {
    const style = this.#window?.style
    if (style === undefined) return
    const percent = (share: number) => `${100 * Math.min(1, share)}%`
    style.left = percent(fromMs / this.#lengthMs)
    style.width = percent((toMs - fromMs) / this.#lengthMs)
    style.top = percent(scrollTop / scrollHeight)
    style.height = percent(clientHeight / scrollHeight)
  }
}
