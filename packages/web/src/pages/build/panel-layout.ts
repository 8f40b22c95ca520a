// Where the job panel is and how large. It stays in the browser, because it is the reader's taste.
import { useState } from 'react'

export type Dock = 'right' | 'bottom'

const dockSetting = 'millrace.dock'
const sizeSetting = 'millrace.panel'
export const smallest = 30
export const largest = 75
const usual = 55

const clamp = (percent: number) => Math.min(largest, Math.max(smallest, Math.round(percent)))

export function usePanelLayout() {
  const [dock, setDock] = useState<Dock>(() =>
    localStorage.getItem(dockSetting) === 'bottom' ? 'bottom' : 'right',
  )
  const [size, setSize] = useState(() => clamp(Number(localStorage.getItem(sizeSetting) ?? usual) || usual))
  return {
    dock,
    size,
    toggleDock: () => {
      const next = dock === 'right' ? 'bottom' : 'right'
      localStorage.setItem(dockSetting, next)
      setDock(next)
    },
    resize: (percent: number) => {
      const next = clamp(percent)
      localStorage.setItem(sizeSetting, String(next))
      setSize(next)
    },
  }
}
