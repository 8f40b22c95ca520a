// The theme: the system's, or the one that the reader chose in this browser. theme.js applies it before the first paint.
export type Theme = 'system' | 'light' | 'dark'

const setting = 'millrace.theme'

export function readTheme(): Theme {
  const stored = localStorage.getItem(setting)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

export function setTheme(theme: Theme): void {
  if (theme === 'system') {
    localStorage.removeItem(setting)
    delete document.documentElement.dataset['theme']
  } else {
    localStorage.setItem(setting, theme)
    document.documentElement.dataset['theme'] = theme
  }
}
