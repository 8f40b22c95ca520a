// Tells screen readers what changed, at most once in five seconds; the newest text wins.
import { showLabel } from './labels.ts'
const betweenMs = 5000
let region: HTMLElement | null = null
let lastMs = -betweenMs
let timer: ReturnType<typeof setTimeout> | undefined

function getRegion(): HTMLElement {
  if (region === null) {
    region = document.createElement('div')
    region.className = 'visually-hidden'
    region.setAttribute('aria-live', 'polite')
    region.dataset['part'] = 'announcements'
    document.body.append(region)
  }
  return region
}

/** An answer to the reader's own action is announced at once. */
export function announceNow(text: string): void {
  clearTimeout(timer)
  lastMs = performance.now()
  getRegion().textContent = showLabel(text)
}

export function announce(text: string): void {
  clearTimeout(timer)
  const waitMs = Math.max(0, lastMs + betweenMs - performance.now())
  timer = setTimeout(() => announceNow(text), waitMs)
}
