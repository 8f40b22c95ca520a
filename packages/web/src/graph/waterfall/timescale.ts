// How many pixels a millisecond of the waterfall takes. The scale is the style variable `--scale` of the scroller, so
// that zooming renders no row again.

import { Listeners } from '../../api/listeners.ts'
import { roundSeconds } from '../../parts/time/durations.ts'
import { wheelFactor } from '../zoom-gestures.ts'

const leastTickPx = 88
const mostPxPerSecond = 400

/** The step between two marks of the axis: the smallest of the round ones that leaves room for its label. */
export function tickStepMs(pxPerMs: number): number {
  const found = roundSeconds.find((seconds) => seconds * 1000 * pxPerMs >= leastTickPx)
  if (found !== undefined) return found * 1000
  const days = Math.ceil(leastTickPx / (86_400_000 * pxPerMs))
  return days * 86_400_000
}

interface Marks {
  stepMs: number
  first: number
  /** Inclusive. */
  last: number
}

export class Timescale {
  #element: HTMLElement | null = null
  /** Read when it changes: reading after a style was written makes the browser compute all styles at once. */
  #seen = { namesPx: 0, widthPx: 0, leftPx: 0, topShare: 0, heightShare: 1 }
  #lengthMs = 1000
  #pxPerMs = 0.1
  #isFitted = true
  #marks: Marks = { stepMs: 1000, first: 0, last: 0 }
  #window: HTMLElement | null = null

  readonly #listeners = new Listeners()
  subscribe = this.#listeners.add

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
    element.addEventListener('scroll', () => this.#look(element), { passive: true, signal })
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey) return
      event.preventDefault()
      this.zoomBy(wheelFactor(event), event.clientX - element.getBoundingClientRect().left)
    }
    element.addEventListener('wheel', onWheel, { passive: false, signal })
    const sizes = new ResizeObserver(() => {
      this.#look(element)
      this.#refit()
    })
    sizes.observe(element)
    return () => {
      stop.abort()
      sizes.disconnect()
      this.#element = null
    }
  }

  setLength(lengthMs: number): void {
    this.#lengthMs = lengthMs
    this.#refit()
  }

  fit(): void {
    this.#isFitted = true
    this.#refit()
  }

  /** The moment under `atPx` stays there. */
  zoomBy(factor: number, atPx?: number): void {
    const { namesPx, widthPx, leftPx } = this.#seen
    const offset = (atPx ?? (widthPx + namesPx) / 2) - namesPx
    const timeMs = (leftPx + offset) / this.#pxPerMs
    const least = this.#fittedScale()
    const next = Math.min(Math.max(mostPxPerSecond / 1000, least), Math.max(least, this.#pxPerMs * factor))
    this.#isFitted = next === least
    this.#setScale(next)
    this.#element?.scrollTo({ left: timeMs * next - offset })
    if (this.#element !== null) this.#look(this.#element)
  }

  /** Scrolls to a place, both given as a share of the whole. */
  scrollTo(x: number, y: number): void {
    const element = this.#element
    const { namesPx, widthPx } = this.#seen
    element?.scrollTo({
      left: x * this.#lengthMs * this.#pxPerMs - (widthPx - namesPx) / 2,
      top: y * element.scrollHeight - element.clientHeight / 2,
    })
  }

  #look(element: HTMLElement): void {
    this.#seen = {
      namesPx: element.querySelector<HTMLElement>('[data-names]')?.offsetWidth ?? 0,
      widthPx: element.clientWidth,
      leftPx: element.scrollLeft,
      topShare: element.scrollTop / element.scrollHeight,
      heightShare: element.clientHeight / element.scrollHeight,
    }
    this.#update()
  }

  #fittedScale(): number {
    return Math.max(1, this.#seen.widthPx - this.#seen.namesPx) / this.#lengthMs
  }

  #refit(): void {
    const fitted = this.#fittedScale()
    if (this.#isFitted || this.#pxPerMs < fitted) this.#setScale(fitted)
    this.#update()
  }

  #setScale(pxPerMs: number): void {
    this.#pxPerMs = pxPerMs
    this.#element?.style.setProperty('--scale', `${pxPerMs}px`)
  }

  #update(): void {
    const { namesPx, widthPx, leftPx } = this.#seen
    const stepMs = tickStepMs(this.#pxPerMs)
    const fromMs = leftPx / this.#pxPerMs
    const toMs = fromMs + (widthPx - namesPx) / this.#pxPerMs
    this.#showWindow(fromMs, toMs)
    const first = Math.max(0, Math.floor(fromMs / stepMs))
    const last = Math.floor(Math.min(toMs, this.#lengthMs) / stepMs)
    const old = this.#marks
    if (stepMs === old.stepMs && first === old.first && last === old.last) return
    this.#marks = { stepMs, first, last }
    this.#listeners.call()
  }

  /** Moves the frame of the minimap to what is in view. */
  #showWindow(fromMs: number, toMs: number): void {
    const style = this.#window?.style
    if (style === undefined) return
    const percent = (share: number) => `${100 * Math.min(1, share)}%`
    style.left = percent(fromMs / this.#lengthMs)
    style.width = percent((toMs - fromMs) / this.#lengthMs)
    style.top = percent(this.#seen.topShare)
    style.height = percent(this.#seen.heightShare)
  }
}
