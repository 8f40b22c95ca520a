import UPlot from 'uplot'
import { axisLook, wholeNumbers } from '../../parts/chart/axes.ts'
import { keepDrawn } from '../../parts/chart/keep-drawn.ts'
import { readColor } from '../../parts/state-badge/tone-colors.ts'
import type { Metrics } from './queries.ts'

/** Returns how to remove the chart. */
export const drawChart = (element: HTMLElement, points: Metrics['points']): (() => void) =>
  keepDrawn(element, () => chartOf(element, points))

function chartOf(element: HTMLElement, points: Metrics['points']): UPlot {
  const colour = (token: string) => readColor(element, token)
  const axis = axisLook(element)
  return new UPlot(
    {
      width: element.clientWidth,
      height: element.clientHeight,
      legend: { show: false },
      cursor: { show: false },
      scales: { y: { range: fromZero }, busy: { range: fromZero } },
      axes: [
        { ...axis, size: 24, values: (_chart, times) => times.map(clock) },
        { ...axis, size: 44, incrs: wholeNumbers },
        { ...axis, scale: 'busy', side: 1, size: 44, incrs: wholeNumbers, grid: { show: false } },
      ],
      series: [
        {},
        { stroke: colour('warn'), fill: colour('warn-tint'), width: 1.5, points: { show: false } },
        { scale: 'busy', stroke: colour('running'), width: 1.5, points: { show: false } },
      ],
    },
    [
      points.map(([ms = 0]) => ms / 1000),
      points.map(([, waiting = 0]) => waiting),
      points.map(([, , busy = 0]) => busy),
    ],
    element,
  )
}

/** Thousands of jobs may wait for a few agents, so each has a scale of its own. */
const fromZero: UPlot.Range.Function = (_chart, _least, most) => [0, Math.max(4, most)]

const clock = (seconds: number) =>
  new Date(seconds * 1000).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })
