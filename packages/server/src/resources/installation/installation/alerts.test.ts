import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { alertRules, alertsOf } from './alerts.ts'

const file = readFileSync(new URL('../../../../../../deploy/prometheus/alerts.yml', import.meta.url), 'utf8')

describe('the alerts of the installation', () => {
  it('have the names, metrics and limits of those for Prometheus', () => {
    for (const { name, metric, limit } of alertRules) {
      const rule = file.split('- alert: ').find((part) => part.startsWith(`${name}\n`)) ?? ''
      expect(rule).toContain(metric)
      expect(rule).toMatch(new RegExp(`\\(${metric}\\) > ${limit}\\b`))
    }
  })

  it('hold above the limit, for each kind by itself', () => {
    const readings = new Map([
      [
        'millrace_tasks_dead',
        [
          { label: 'a', value: 0 },
          { label: 'b', value: 2 },
        ],
      ],
      ['millrace_relay_lag_seconds', [{ label: '', value: 60 }]],
    ])
    expect(alertsOf(readings)).toEqual([
      { name: 'MillraceTasksFailing', summary: 'Background tasks b fail.' },
    ])
  })
})
