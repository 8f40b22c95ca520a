// The colours of the tokens for canvases and icons of tabs, which cannot read custom properties.
import type { Tone } from './states.ts'

type Token = Tone | 'border'

const TOKENS: readonly Token[] = ['passed', 'failed', 'running', 'warn', 'blocked', 'idle', 'border']

/** The colour of a token as an element in `element` would have it, in the theme of now. */
export function readColor(element: HTMLElement, token: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(--${token})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

export const readToneColors = (element: HTMLElement): Record<Token, string> =>
  Object.fromEntries(TOKENS.map((token) => [token, readColor(element, token)])) as Record<Token, string>

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
