// The chart: its values and settings always; what Helm makes of it, where Helm is installed (or MILLRACE_HELM names it).
import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import Schema from 'typebox/schema'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { findProgram, knownSettings, readText, root, unknownSettings, withProgram } from './files.ts'
import { faultsOf, isKnownKind, type KubernetesObject } from './kubernetes-types.ts'

const chart = 'deploy/helm/millrace'
const templates = readdirSync(join(root, chart, 'templates')).map((name) => `${chart}/templates/${name}`)
const values = parse(readText(`${chart}/values.yaml`)) as Record<string, unknown>
const schema = JSON.parse(readText(`${chart}/values.schema.json`)) as Properties
const everything = 'e2e/deploy/values/everything.yaml'

interface Properties {
  properties?: Record<string, Properties>
}

/** The paths of all objects and values that the schema describes. */
const pathsOf = ({ properties = {} }: Properties, path = ''): string[] =>
  Object.entries(properties).flatMap(([name, inner]) => [
    `${path}${name}`,
    ...pathsOf(inner, `${path}${name}.`),
  ])

const hasPath = (value: unknown, path: string): boolean =>
  path
    .split('.')
    .reduce<unknown>((inner, name) => (inner as Record<string, unknown> | undefined)?.[name], value) !==
  undefined

describe('the chart', () => {
  it('has the version of the program', () => {
    const { version } = JSON.parse(readText('package.json')) as { version: string }
    expect(parse(readText(`${chart}/Chart.yaml`))).toMatchObject({ version, appVersion: version })
  })

  it('has a default for every value in the schema, and none besides', () => {
    expect(Schema.Errors(schema, values)).toEqual([true, []])
    expect(pathsOf(schema).filter((path) => path !== 'global' && !hasPath(values, path))).toEqual([])
    expect(Schema.Check(schema, { ...values, replicas: 3 })).toBe(false)
    expect(Schema.Check(schema, { ...values, settings: { MILLRACE_SECRET_KEY: 'x' } })).toBe(false)
    expect(Schema.Check(schema, parse(readText(everything)))).toBe(true)
  })

  it('uses every value', () => {
    const text = templates.map((path) => readText(path)).join('\n')
    const names = pathsOf(schema).map((path) => path.split('.').at(-1) ?? '')
    expect(names.filter((name) => name !== 'global' && !new RegExp(`\\b${name}\\b`).test(text))).toEqual([])
  })

  it('names settings that exist', () => {
    for (const path of [...templates, `${chart}/values.yaml`, everything])
      expect({ path, unknown: unknownSettings(readText(path)) }).toEqual({ path, unknown: [] })
  })

  it('gives Millrace the rights in docs/hosted-kubernetes.md', () => {
    const documented = /^kind: Role\n[^]*?^rules:\n([^]*?)^---/m.exec(
      readText('docs/hosted-kubernetes.md'),
    )?.[1]
    const ours = /^kind: Role\n[^]*?^rules:\n([^]*?)^---/m.exec(
      readText(`${chart}/templates/account.yaml`),
    )?.[1]
    const plain = (text = '') =>
      text
        .split('\n')
        .filter((line) => !/^\s*(#|\{\{)/.test(line))
        .join('\n')
        .replace('{{ . }}', 'millrace-registry')
    expect(parse(plain(ours))).toEqual(parse(plain(documented)))
  })
})

const helm = process.env['MILLRACE_HELM'] || findProgram('helm')

withProgram(helm, 'helm').describe('helm template', () => {
  const render = (...args: string[]): KubernetesObject[] => {
    const given = ['template', 'ci', join(root, chart), '--namespace', 'millrace', '--kube-version', '1.34.0']
    const text = execFileSync(helm ?? '', [...given, ...args], { encoding: 'utf8', stdio: 'pipe' })
    return parseAllDocuments(text).flatMap((document) => (document.toJSON() as KubernetesObject | null) ?? [])
  }
  const least = ['--set', 'url=https://ci.example.com,existingSecret=millrace,blobs=s3://bucket']
  const most = ['--values', join(root, everything)]
  const both: [string, string[]][] = [
    ['the least values', least],
    ['all values', most],
  ]

  it.each(both)('gives objects that Kubernetes knows, with %s', (_, args) => {
    const objects = render(...args)
    expect(objects.filter(isKnownKind).flatMap(faultsOf)).toEqual([])
    // Of extensions: KEDA's and the Gateway API's.
    const others = objects.filter((object) => !isKnownKind(object)).map(({ kind }) => kind)
    expect(others.sort()).toEqual(args === most ? ['HTTPRoute', 'ScaledObject'] : [])
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`)
    expect(new Set(names).size).toBe(names.length)
  })

  it.each(both)('gives pods without rights on a read-only file system, with %s', (_, args) => {
    const pods = render(...args).flatMap(podOf)
    expect(pods.length).toBeGreaterThan(2)
    for (const { spec } of pods) {
      expect(spec.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 10_001,
        seccompProfile: { type: 'RuntimeDefault' },
      })
      expect(spec.enableServiceLinks).toBe(false)
      for (const container of spec.containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toEqual([
          '/var/lib/millrace',
          '/tmp',
        ])
        expect(container.resources).toMatchObject({ requests: {}, limits: {} })
        expect(container.env?.filter(({ name }) => !knownSettings().has(name))).toEqual([])
      }
    }
    // Only pods that start hosted jobs have an account.
    const accounts = pods.filter(({ spec }) => spec.automountServiceAccountToken !== false)
    expect(accounts.map(({ component }) => component)).toEqual(args === most ? ['api', 'worker'] : [])
  })

  it('lets a pod drain before it is killed, and migrates before everything else', () => {
    const objects = render(...least, '--set', 'drainSeconds=40')
    for (const { spec, component } of objects.flatMap(podOf).filter((pod) => pod.component !== 'migrate')) {
      const drain = spec.containers[0]?.env?.find(({ name }) => name === 'MILLRACE_DRAIN_SECONDS')
      expect({ component, drain: drain?.value, grace: spec.terminationGracePeriodSeconds }).toEqual({
        component,
        drain: '40',
        grace: 55,
      })
      const [container] = spec.containers
      expect(container?.readinessProbe?.httpGet).toEqual({ path: '/readyz', port: 'metrics' })
      expect(container?.livenessProbe?.httpGet).toEqual({ path: '/healthz', port: 'metrics' })
    }
    const job = objects.find(({ kind }) => kind === 'Job')
    expect(job?.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'pre-install,pre-upgrade' })
  })

  it('scales agents by the jobs of their queue', () => {
    const scaled = render(...most).find(({ kind }) => kind === 'ScaledObject')
    const spec = scaled?.['spec'] as { triggers: { metadata: Record<string, string> }[] } | undefined
    const labels = '{organization="default",cluster="Default cluster",queue="default"}'
    expect(spec?.triggers[0]?.metadata).toEqual({
      serverAddress: 'http://prometheus.monitoring:9090',
      query: `sum(millrace_queue_jobs_waiting${labels}) + sum(millrace_queue_jobs_running${labels})`,
      threshold: '2',
    })
    const monitoring = readText('docs/monitoring.md')
    for (const name of ['millrace_queue_jobs_waiting', 'millrace_queue_jobs_running'])
      expect(monitoring).toContain(
        `| \`${name}\` | gauge, database | \`organization\`, \`cluster\`, \`queue\` |`,
      )
  })

  it('denies what no policy allows, and keeps agents from everything private but Millrace', () => {
    const policies = render(...most).filter(({ kind }) => kind === 'NetworkPolicy')
    const named = (end: string) =>
      policies.find(({ metadata }) => metadata.name === `ci-millrace-${end}`)?.['spec'] as Policy
    expect(named('deny')).toEqual({
      podSelector: {
        matchLabels: { 'app.kubernetes.io/instance': 'ci', 'app.kubernetes.io/name': 'millrace' },
      },
      policyTypes: ['Ingress', 'Egress'],
    })
    const open = named('agent').egress.filter(({ to }) => to === undefined)
    expect(open.map(({ ports }) => ports?.map(({ port }) => port))).toEqual([[53, 53]])
    const blocks = named('agent').egress.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock ?? []))
    expect(blocks.find(({ cidr }) => cidr === '0.0.0.0/0')?.except).toContain('169.254.0.0/16')
  })

  it('refuses to render without what it needs, and says what that is', () => {
    const refuse = (...args: string[]) =>
      spawnSync(helm ?? '', ['template', 'ci', join(root, chart), '--kube-version', '1.34.0', ...args], {
        encoding: 'utf8',
      }).stderr
    expect(refuse()).toMatch(/(url|existingSecret) must/)
    expect(refuse('--set', 'url=https://a.example,existingSecret=a')).toContain('blobs must be')
    expect(refuse(...least, '--set', 'api.replica=2')).toMatch(/additional ?propert.*replica/i)
    expect(refuse(...least, '--set', 'hosted.enabled=true')).toContain('hosted.namespace must')
  })
})

interface Pod {
  component: string | undefined
  spec: {
    securityContext: object
    automountServiceAccountToken?: boolean
    enableServiceLinks: boolean
    terminationGracePeriodSeconds?: number
    containers: {
      securityContext: object
      resources: object
      volumeMounts: { mountPath: string }[]
      env?: { name: string; value?: string }[]
      readinessProbe?: { httpGet: object }
      livenessProbe?: { httpGet: object }
    }[]
  }
}

interface Policy {
  podSelector: object
  egress: { to?: { ipBlock?: { cidr: string; except?: string[] } }[]; ports?: { port: number }[] }[]
}

function podOf(object: KubernetesObject): Pod[] {
  const { template } = (object['spec'] ?? {}) as {
    template?: { metadata: { labels: Record<string, string> } } & Pod
  }
  if (template === undefined) return []
  return [{ component: template.metadata.labels['app.kubernetes.io/component'], spec: template.spec }]
}
