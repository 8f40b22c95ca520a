// The window on a log: which rows are on screen, where, and what the scrollbar shows. Everything that happens is collected
// and becomes one update per frame of the browser. React draws the rows of a frame; heights and positions are set here, so
// that they change together with the scroll position.
import { Listeners } from '../../api/listeners.ts'
import { following, moved, stopped } from './follow.ts'
import { drawFrame, isAtEnd, type Frame } from './frame.ts'
import { layOut, type Layout } from './layout.ts'
import type { LogModel } from '../model/model.ts'
import { mostSpacer, mostTop, moveTo, scrolled, alignThumb, spacerOf, type ScrollState } from './scroll.ts'
import { WheelTrace } from './wheel.ts'
import { rowHeight } from './wrap.ts'

const alignMs = 150
/** During a drag of the thumb, rows are fetched when it rests. */
const restMs = 60

/** A row and where it is: pixels from the top of the window up to it, negated. */
interface Anchor {
  row: number
  within: number
}

interface ViewportElements {
  scroller: HTMLElement
  spacer: HTMLElement
  layer: HTMLElement
}

export class Viewport {
  readonly #model: LogModel
  #elements: ViewportElements | null = null
  #scroll: ScrollState = { height: 0, view: 0, top: 0, scrollTop: 0 }
  #columns: number | null = null
  #layout: Layout
  #anchor: Anchor = { row: 1, within: 0 }
  #target: { row: number; where: 'center' | 'top' } | null = null
  #follow = following
  #frame: Frame
  #isDue = false
  #alignTimer: ReturnType<typeof setTimeout> | undefined
  #restTimer: ReturnType<typeof setTimeout> | undefined
  #wantedTop = 0
  readonly #wheel = new WheelTrace()

  constructor(model: LogModel) {
    this.#model = model
    this.#layout = layOut(model, null)
    this.#frame = this.#draw()
    model.subscribe(() => this.schedule())
  }

  readonly #listeners = new Listeners()
  subscribe = this.#listeners.add

  read = (): Frame => this.#frame

  attach(elements: ViewportElements): () => void {
    const { scroller } = elements
    this.#elements = elements
    const onScroll = () => this.#scrolled(scroller.scrollTop)
    const onWheel = (event: WheelEvent) => {
      this.#wheel.notch(event, this.#scroll.view, performance.now())
      if (event.deltaY < 0) this.#stopFollowing()
    }
    scroller.addEventListener('scroll', onScroll, { passive: true })
    scroller.addEventListener('wheel', onWheel, { passive: true })
    const observer = new ResizeObserver(() => this.schedule())
    observer.observe(scroller)
    this.schedule()
    return () => {
      observer.disconnect()
      scroller.removeEventListener('scroll', onScroll)
      scroller.removeEventListener('wheel', onWheel)
      clearTimeout(this.#alignTimer)
      clearTimeout(this.#restTimer)
      this.#elements = null
    }
  }

  /** Columns of a wrapped log; null when rows are not wrapped. */
  setColumns(columns: number | null): void {
    if (columns === this.#columns) return
    this.#columns = columns
    this.schedule()
  }

  /** Opens what hides a row from there to `to`. */
  goTo(row: number, where: 'center' | 'top' = 'center', to = row): void {
    this.#model.reveal(row, to)
    this.#stopFollowing()
    this.#target = { row, where }
    this.schedule()
  }

  /** Goes to a row unless it is on screen. */
  show(row: number): void {
    this.#model.reveal(row)
    const from = this.#layout.top(row) - this.#scroll.top
    const isOnScreen = from >= rowHeight && from <= this.#scroll.view - 2 * rowHeight
    if (isOnScreen && this.#layout.version === this.#model.version) this.#stopFollowing()
    else this.goTo(row)
  }

  focus(): void {
    this.#elements?.scroller.focus()
  }

  /** Stops following. */
  stop(): void {
    this.#stopFollowing()
    this.#anchor = this.#anchorAt(this.#scroll.top)
    this.schedule()
  }

  goToEnd(): void {
    this.#follow = following
    this.#target = null
    this.schedule()
  }

  schedule(): void {
    if (this.#isDue) return
    this.#isDue = true
    requestAnimationFrame(() => {
      this.#isDue = false
      this.#update()
    })
  }

  #stopFollowing(): void {
    if (this.#follow.isFollowing) this.#follow = stopped(this.#model.total)
  }

  #scrolled(scrollTop: number): void {
    const before = this.#scroll.top
    const isWheel = this.#wheel.explains(scrollTop - this.#scroll.scrollTop, performance.now())
    this.#scroll = scrolled(this.#scroll, scrollTop, isWheel ? 'wheel' : 'unknown')
    const by = this.#scroll.top - before
    if (by !== 0) {
      this.#target = null
      this.#follow = moved(this.#follow, { by, isAtEnd: isAtEnd(this.#scroll), total: this.#model.total })
      this.#anchor = this.#anchorAt(this.#scroll.top)
    }
    clearTimeout(this.#alignTimer)
    if (this.#scroll.height > mostSpacer) this.#alignTimer = setTimeout(() => this.#alignThumb(), alignMs)
    this.schedule()
  }

  #alignThumb(): void {
    this.#scroll = alignThumb(this.#scroll)
    this.schedule()
  }

  #update(): void {
    const view = this.#elements?.scroller.clientHeight ?? 0
    if (this.#layout.version !== this.#model.version || this.#layout.columns !== this.#columns) {
      this.#layout = layOut(this.#model, this.#columns)
    }
    this.#place(view)
    this.#frame = this.#draw()
    this.#apply()
    this.#want()
    this.#listeners.call()
  }

  /** The anchor stays where it is on screen, whatever changed above it. */
  #place(view: number): void {
    const { height } = this.#layout.heights
    if (this.#target !== null) {
      const within = this.#target.where === 'center' ? -Math.max(0, view / 2 - rowHeight) : -2 * rowHeight
      this.#anchor = { row: this.#target.row, within: Math.round(within) }
      if (view > 0) this.#target = null
    }
    const state = { ...this.#scroll, height, view }
    const top = this.#follow.isFollowing
      ? mostTop(state)
      : this.#layout.top(this.#anchor.row) + this.#anchor.within
    const isMoved = Math.abs(top - state.top) > 0.5 || state.top > mostTop(state)
    this.#scroll = isMoved ? moveTo(state, top) : state
  }

  #anchorAt(top: number): Anchor {
    const row = this.#layout.rowAt(top)
    return { row, within: top - this.#layout.top(row) }
  }

  #draw = (): Frame => drawFrame(this.#layout, this.#scroll, this.#follow)

  #apply(): void {
    if (this.#elements === null) return
    const { scroller, spacer, layer } = this.#elements
    const height = `${spacerOf(this.#scroll.height)}px`
    if (spacer.style.height !== height) spacer.style.height = height
    if (Math.abs(scroller.scrollTop - this.#scroll.scrollTop) >= 1) {
      scroller.scrollTop = this.#scroll.scrollTop
      this.#scroll = { ...this.#scroll, scrollTop: scroller.scrollTop }
    }
    const { scrollTop, top } = this.#scroll
    const [first = 1] = this.#frame.rows
    layer.style.transform = `translateY(${scrollTop - top + this.#layout.top(first)}px)`
  }

  #want(): void {
    const isFar = Math.abs(this.#scroll.top - this.#wantedTop) > 4 * this.#scroll.view
    clearTimeout(this.#restTimer)
    if (isFar) this.#restTimer = setTimeout(() => this.#wantNow(), restMs)
    else this.#wantNow()
  }

  #wantNow(): void {
    this.#wantedTop = this.#scroll.top
    this.#model.want(this.#frame.rows)
  }
}
