// The colours of the tokens for a canvas, which cannot read custom properties.
import type { Tone } from './states.ts'

const TONES: readonly Tone[] = ['passed', 'failed', 'running', 'warn', 'blocked', 'idle']

type ToneColors = Record<Tone | 'border' | 'text', string>

/** Asks the browser for each colour as an element beside `element` would have it, in the theme of now. */
export function readToneColors(element: HTMLElement): ToneColors {
  const probe = document.createElement('span')
  element.append(probe)
  const read = (token: string) => {
    probe.style.color = `var(--${token})`
    return getComputedStyle(probe).color
  }
  const colors: ToneColors = {
    passed: '',
    failed: '',
    running: '',
    warn: '',
    blocked: '',
    idle: '',
    border: read('border'),
    text: read('text'),
  }
  for (const tone of TONES) colors[tone] = read(tone)
  probe.remove()
  return colors
}

/** Runs at once, when the theme changes, and when the element changes its width. */
export function onThemeOrWidth(element: HTMLElement, run: () => void): () => void {
  const themes = new MutationObserver(run)
  themes.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  const sizes = new ResizeObserver(run)
  sizes.observe(element)
  const system = window.matchMedia('(prefers-color-scheme: dark)')
  system.addEventListener('change', run)
  return () => {
    themes.disconnect()
    sizes.disconnect()
    system.removeEventListener('change', run)
  }
}
