// Ctrl-wheel, which is also the pinch of a touchpad, two fingers on a screen, and dragging with the mouse.

type OnZoom = (factor: number, at: { x: number; y: number }) => void

/** A notch of a wheel is 100 or more, a move of a pinch between 1 and 10. */
export const wheelFactor = ({ deltaY }: WheelEvent): number =>
  Math.exp(-Math.max(-30, Math.min(30, deltaY)) * 0.01)

export function listenToGestures(element: HTMLElement, onZoom: OnZoom): () => void {
  const placeOf = (x: number, y: number) => {
    const { left, top } = element.getBoundingClientRect()
    return { x: x - left, y: y - top }
  }
  let distance = 0
  const onWheel = (event: WheelEvent) => {
    if (!event.ctrlKey) return
    event.preventDefault()
    onZoom(wheelFactor(event), placeOf(event.clientX, event.clientY))
  }
  const onTouch = (event: TouchEvent) => {
    const [a, b] = event.touches
    if (a === undefined || b === undefined) {
      distance = 0
      return
    }
    event.preventDefault()
    const now = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY)
    const middle = placeOf((a.clientX + b.clientX) / 2, (a.clientY + b.clientY) / 2)
    if (distance > 0) onZoom(now / distance, middle)
    distance = now
  }
  const onPointerDown = (event: PointerEvent) => {
    const isOnControl = event.target instanceof Element && event.target.closest('a, button') !== null
    if (event.pointerType !== 'mouse' || event.button !== 0 || isOnControl) return
    element.setPointerCapture(event.pointerId)
  }
  const onPointerMove = (event: PointerEvent) => {
    if (element.hasPointerCapture(event.pointerId)) element.scrollBy(-event.movementX, -event.movementY)
  }
  const stop = new AbortController()
  const { signal } = stop
  element.addEventListener('wheel', onWheel, { passive: false, signal })
  for (const type of ['touchstart', 'touchmove', 'touchend'] as const) {
    element.addEventListener(type, onTouch, { passive: false, signal })
  }
  element.addEventListener('pointerdown', onPointerDown, { signal })
  element.addEventListener('pointermove', onPointerMove, { signal })
  return () => stop.abort()
}
