import UPlot from 'uplot'
import {
  axisLook,
  roundDurations,
  showCount,
  showMoment,
  showRoundDuration,
  wholeNumbers,
} from '../../parts/chart/axes.ts'
import { keepDrawn } from '../../parts/chart/keep-drawn.ts'
import { readColor } from '../../parts/state-badge/tone-colors.ts'
import type { Insights } from './words.ts'

type Drawn = Pick<Insights, 'from' | 'to' | 'unit_seconds' | 'total'>

const daySeconds = 86_400
const waitScale = 'wait'

/** Returns how to remove the chart. */
export const drawJobs = (element: HTMLElement, insights: Drawn): (() => void) =>
  keepDrawn(element, () => new UPlot(optionsFor(element, insights), dataOf(insights), element))

/** At the middle of each unit. Where no job ended or failed, nothing is drawn. */
function dataOf({ from, to, unit_seconds: unit, total }: Drawn): UPlot.AlignedData {
  const [start, end] = rangeOf({ from, to })
  const points = new Map(total.points.map((point) => [Date.parse(point.at) / 1000, point]))
  const starts = Array.from({ length: Math.round((end - start) / unit) }, (_, index) => start + index * unit)
  const read = (value: 'jobs' | 'failures') => starts.map((time) => points.get(time)?.[value] || null)
  const waits = starts.map((time) => points.get(time)?.wait_p50_seconds ?? null)
  return [starts.map((time) => time + unit / 2), read('jobs'), read('failures'), waits]
}

const rangeOf = ({ from, to }: Pick<Drawn, 'from' | 'to'>): [number, number] => [
  Date.parse(from) / 1000,
  Date.parse(to) / 1000,
]

function optionsFor(element: HTMLElement, insights: Drawn): UPlot.Options {
  const axis = axisLook(element)
  const colour = (token: string) => readColor(element, token)
  // Days are those of UTC; the reader's day would begin within a bar.
  const zone = insights.unit_seconds === daySeconds ? 'UTC' : undefined
  const bars = UPlot.paths.bars?.({ size: [0.8, 40] })
  const bar = { ...(bars === undefined ? {} : { paths: bars }), points: { show: false }, width: 1 }
  return {
    width: element.clientWidth,
    height: element.clientHeight,
    legend: { show: false },
    cursor: { show: false },
    ...(zone === undefined
      ? {}
      : { tzDate: (seconds: number) => UPlot.tzDate(new Date(seconds * 1000), zone) }),
    scales: {
      x: { range: rangeOf(insights) },
      y: { range: (_chart, _least, most) => [0, Math.max(4, most)] },
      [waitScale]: { range: (_chart, _least, most) => [0, Math.max(1, most ?? 0)] },
    },
    axes: [
      {
        ...axis,
        size: 24,
        space: 64,
        values: (_chart, times) => times.map((time) => showMoment(time, zone)),
      },
      { ...axis, size: 48, incrs: wholeNumbers, values: (_chart, counts) => counts.map(showCount) },
      {
        ...axis,
        scale: waitScale,
        side: 1,
        size: 56,
        incrs: roundDurations,
        grid: { show: false },
        values: (_chart, seconds) => seconds.map(showRoundDuration),
      },
    ],
    series: [
      {},
      { ...bar, stroke: colour('edge'), fill: colour('selected') },
      { ...bar, stroke: colour('failed'), fill: colour('failed') },
      { scale: waitScale, stroke: colour('running'), width: 1.5, dash: [6, 4] },
    ],
  }
}
