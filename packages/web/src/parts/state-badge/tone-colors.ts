// The colours of the tokens for canvases and icons of tabs, which cannot read custom properties.
import type { Tone } from './states.ts'

type Token = Tone | 'border'

const TOKENS: readonly Token[] = ['passed', 'failed', 'running', 'warn', 'blocked', 'idle', 'border']

/** Asks the browser for each colour as an element beside `element` would have it, in the theme of now. */
export function readToneColors(element: HTMLElement): Record<Token, string> {
  const probe = document.createElement('span')
  element.append(probe)
  const read = (token: Token) => {
    probe.style.color = `var(--${token})`
    return getComputedStyle(probe).color
  }
  const colors = Object.fromEntries(TOKENS.map((token) => [token, read(token)])) as Record<Token, string>
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
