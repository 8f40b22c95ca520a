// The files for operators name metrics, tables, routes and commands. All of them must exist.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { SyntaxNode } from '@lezer/common'
import { parser } from '@prometheus-io/lezer-promql'
import { beforeAll, describe, expect, it } from 'vitest'
import { needing } from '../../../testbed/src/needing.ts'
import { parse as parseYaml } from 'yaml'
import { useApp } from '../test/app.ts'
import { slices } from './app.ts'
import { monitoringOf, type MetricDescription } from './monitoring.ts'

const app = useApp()
const root = new URL('../../../', import.meta.url)
const pathOf = (path: string) => fileURLToPath(new URL(path, root))
const read = (path: string) => readFileSync(pathOf(path), 'utf8')

let metrics: MetricDescription[] = []
beforeAll(async () => {
  metrics = await monitoringOf(app.ctx, app.database).list()
})

/** Everything that is wrong with an expression: its syntax, and metrics and labels that do not exist. */
function problemsOf(expression: string): string[] {
  const plain = expression.replaceAll('$__rate_interval', '5m')
  const text = (node: SyntaxNode | null) => (node === null ? '' : plain.slice(node.from, node.to))
  const problems: string[] = []
  parser.parse(plain).iterate({
    enter({ node }) {
      if (node.type.isError)
        problems.push(`The syntax is wrong near "${plain.slice(node.from, node.to + 20)}".`)
      if (node.name !== 'VectorSelector') return
      const name = text(node.getChild('Identifier'))
      const metric = metrics.find((one) => one.name === name || seriesOf(one).includes(name))
      if (metric === undefined) problems.push(`There is no metric ${name}.`)
      else if (metric.type === 'histogram' && metric.name === name) problems.push(`${name} has no series.`)
      const known = new Set([...(metric?.labels ?? []), 'instance', 'job', 'le'])
      node
        .getChild('LabelMatchers')
        ?.cursor()
        .iterate((inner) => {
          const label = inner.name === 'LabelName' ? text(inner.node) : ''
          if (label !== '' && !known.has(label)) problems.push(`${name} has no label ${label}.`)
        })
    },
  })
  return problems
}

const seriesOf = ({ name, type }: MetricDescription) =>
  type === 'histogram' ? ['bucket', 'count', 'sum'].map((end) => `${name}_${end}`) : []

const blocksOf = (markdown: string, language: string) =>
  [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)].flatMap(([, kind, text = '']) =>
    kind === language ? [text] : [],
  )

describe('the check of expressions', () => {
  it('finds a wrong syntax, and metrics and labels that do not exist', () => {
    expect(problemsOf('sum(rate(millrace_builds_created_total{source="api"}[5m]))')).toEqual([])
    expect(problemsOf('histogram_quantile(0.9, rate(millrace_job_wait_seconds_bucket[5m]))')).toEqual([])
    expect(problemsOf('sum(rate(millrace_builds_created_total[5m])')).not.toEqual([])
    expect(problemsOf('millrace_gone > 0')).toEqual(['There is no metric millrace_gone.'])
    expect(problemsOf('millrace_job_wait_seconds > 0')).toEqual(['millrace_job_wait_seconds has no series.'])
    expect(problemsOf('millrace_relay_lag_seconds{queue="q"}')).toEqual([
      'millrace_relay_lag_seconds has no label queue.',
    ])
  })
})

describe('docs/monitoring.md', () => {
  it('has every metric with its type and labels, and no other', () => {
    const rows = read('docs/monitoring.md')
      .split('\n')
      .filter((line) => /^\| `(millrace|nodejs|process)_/.test(line))
      .map((line) => line.split('|').map((cell) => cell.trim()))
    const codes = (cell = '') => [...cell.matchAll(/`(\w+)`/g)].map(([, code = '']) => code)
    const documented = rows.flatMap(([, names, type = '', labels]) =>
      codes(names).map((name) => ({ name, type: type.replace(', database', ''), labels: codes(labels) })),
    )
    const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name)
    const ours = ({ name }: { name: string }) => name.startsWith('millrace_')
    expect(documented.filter(ours).sort(byName)).toEqual(metrics.filter(ours).sort(byName))
    // Some of the others exist on Linux only.
    expect(documented).toEqual(expect.arrayContaining(metrics))
  })
})

interface Rule {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; runbook: string }
}

describe('deploy/prometheus/alerts.yml', () => {
  const { groups } = parseYaml(read('deploy/prometheus/alerts.yml')) as { groups: Array<{ rules: Rule[] }> }
  const rules = groups.flatMap((group) => group.rules)
  const sections = [...read('docs/runbooks.md').matchAll(/^## (\w+)\n(.*?)(?=^## |(?![^]))/gms)]

  it.each(rules)('$alert asks for metrics that exist, and has a summary and a severity', (rule) => {
    expect(problemsOf(rule.expr)).toEqual([])
    expect(rule.annotations.summary).not.toBe('')
    expect(['critical', 'warning']).toContain(rule.labels.severity)
  })

  it('has a section of docs/runbooks.md for each alert, and no section is left over', () => {
    expect(rules.map(({ annotations }) => annotations.runbook)).toEqual(
      rules.map(({ alert }) => `docs/runbooks.md#${alert.toLowerCase()}`),
    )
    expect(sections.map(([, title]) => title)).toEqual(
      expect.arrayContaining(rules.map(({ alert }) => alert)),
    )
    expect(sections).toHaveLength(rules.length)
    for (const [, title, text = ''] of sections)
      expect([title, ...text.matchAll(/^\*\*(Meaning|First look|Way out)\.\*\*/gm)].map(String)).toHaveLength(
        4,
      )
  })

  needing('programs', promtoolLacks()).it('is what promtool accepts and tests', () => {
    const run = (...args: string[]) => execFileSync('promtool', args, { encoding: 'utf8' })
    expect(run('check', 'rules', pathOf('deploy/prometheus/alerts.yml'))).toContain('SUCCESS')
    expect(run('test', 'rules', pathOf('deploy/prometheus/alerts-test.yml'))).toContain('SUCCESS')
  })
})

function promtoolLacks(): string | null {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' })
    return null
  } catch {
    return 'promtool is not installed'
  }
}

describe('docs/runbooks.md', () => {
  const text = read('docs/runbooks.md')

  const statements = blocksOf(text, 'sql').map((statement) => ({
    statement,
    first: statement.split('\n')[0],
  }))
  it.each(statements)('has SQL that runs: $first', async ({ statement }) => {
    const client = await app.database.pool.connect()
    try {
      await client.query('begin')
      await expect(client.query(statement)).resolves.toBeDefined()
    } finally {
      await client.query('rollback')
      client.release()
    }
  })

  it.each(blocksOf(text, 'promql').flatMap((block) => block.trim().split('\n')))(
    'asks for metrics that exist: %s',
    (expression) => {
      expect(problemsOf(expression)).toEqual([])
    },
  )

  it('calls operations of the API and commands that exist', () => {
    const operations = new Set(
      Object.values(slices)
        .flat()
        .flatMap(({ methods, url }) => methods.map((method) => `${method} ${url.replaceAll(/:\w+/g, ':')}`)),
    )
    const calls = [...text.matchAll(/\bapi (?:-X (\w+) )?"?\$API(\/[\w/]+)/g)].map(
      ([, method = 'GET', path = '']) =>
        `${method} /v2/organizations/:${path.replaceAll(/\/[A-Z]+\b/g, '/:')}`,
    )
    expect(calls.length).toBeGreaterThan(8)
    expect(calls.filter((call) => !operations.has(call))).toEqual([])
    const commands = [...text.matchAll(/`(?:npx )?millrace ([a-z]+)(?: ([a-z-]+))?/g)].map(
      ([, first, second]) => [first, second].filter(Boolean).join('/'),
    )
    expect(commands.length).toBeGreaterThan(1)
    const files = commands.map((command) => `packages/cli/src/commands/${command}.ts`)
    expect(files.filter((file) => !existsSync(pathOf(file)))).toEqual([])
  })
})

interface Panel {
  id: number
  type: string
  title: string
  gridPos: { h: number; w: number; x: number; y: number }
  targets?: Array<{ expr: string }>
}

interface Dashboard {
  panels: Panel[]
  templating: { list: Array<{ name: string; query: string | { query: string } }> }
}

describe('deploy/grafana/millrace.json', () => {
  const dashboard = JSON.parse(read('deploy/grafana/millrace.json')) as Dashboard
  const charts = dashboard.panels.filter(({ type }) => type !== 'row')

  it.each(charts)('$title asks for metrics that exist', ({ targets = [] }) => {
    expect(targets.length).toBeGreaterThan(0)
    expect(targets.flatMap(({ expr }) => problemsOf(expr))).toEqual([])
  })

  it('has variables for everything that it refers to, with metrics that exist', () => {
    const variables = dashboard.templating.list
    const used = [...JSON.stringify(dashboard).matchAll(/\$\{?([a-z]\w*)\}?/g)].map(([, name]) => name)
    expect(new Set(used)).toEqual(new Set(variables.map(({ name }) => name)))
    for (const { query } of variables) {
      if (typeof query === 'string') continue
      const [, selector = ''] = /^label_values\((.*), \w+\)$/.exec(query.query) ?? []
      expect(problemsOf(selector)).toEqual([])
    }
  })

  it('has panels with ids of their own that do not overlap', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
    const cells = dashboard.panels.flatMap(({ gridPos: { h, w, x, y } }) =>
      Array.from({ length: h * w }, (_, n) => `${x + (n % w)}:${y + Math.floor(n / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(dashboard.panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true)
  })
})
