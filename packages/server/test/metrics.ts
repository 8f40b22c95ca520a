// Reads metrics the way Prometheus does.
import type { TestApp } from './app.ts'

export interface TestMetrics {
  text: string
  /** The sum of all series of that name with these labels; undefined: there is none. */
  value(name: string, labels?: Record<string, string>): number | undefined
}

export async function readMetrics(app: TestApp): Promise<TestMetrics> {
  const { status, text } = await app.request('GET', '/metrics')
  if (status !== 200) throw new Error(`GET /metrics: ${status} ${text}`)
  return parseMetrics(text)
}

export function parseMetrics(text: string): TestMetrics {
  const series = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      if (name === undefined) throw new Error(`This is no line of metrics: ${line}`)
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [
        key,
        text,
      ])
      return { name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) }
    })
  return {
    text,
    value(name, labels = {}) {
      const found = series.filter(
        (one) => one.name === name && Object.entries(labels).every(([key, text]) => one.labels[key] === text),
      )
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
    },
  }
}
