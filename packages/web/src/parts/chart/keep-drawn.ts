import 'uplot/dist/uPlot.min.css'
import type UPlot from 'uplot'
import { onThemeOrWidth } from '../state-badge/tone-colors.ts'

/** Draws a chart into the element, again when the theme or the width changes, and returns how to remove it. */
export function keepDrawn(element: HTMLElement, draw: () => UPlot): () => void {
  let chart = draw()
  const stop = onThemeOrWidth(element, () => {
    chart.destroy()
    chart = draw()
  })
  return () => {
    stop()
    chart.destroy()
  }
}
