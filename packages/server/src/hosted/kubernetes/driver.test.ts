// Tests specific to Kubernetes: how its failures become errors of drivers, and the specs of pods.
import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import tar from 'tar-stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { eventually } from '../../../test/eventually.ts'
import type { Rule } from '../../../test/hosted/kubernetes/api-server.ts'
import { baseLayer } from '../../../test/hosted/kubernetes/cluster.ts'
import { digestOf } from '../../../test/hosted/kubernetes/registry.ts'
import { startKubernetes, type TestKubernetes } from '../../../test/hosted/kubernetes/start.ts'
import type { Plural } from '../../../test/hosted/kubernetes/store.ts'
import { newId } from '../../lib/ids.ts'
import type { Runner } from '../driver.ts'
import {
  HostedNotFound,
  HostedInUse,
  HostedRefused,
  HostedUnavailable,
  type Container,
  type HostedDriver,
  type ImageBuild,
} from '../driver.ts'
import type { KubernetesSettings } from './cluster.ts'
import { openKubernetes } from './driver.ts'

const plurals: Plural[] = ['pods', 'jobs', 'persistentvolumeclaims', 'configmaps', 'volumesnapshots']

let world: TestKubernetes

beforeEach(async () => {
  world = await startKubernetes()
})

afterEach(() => world.stop())

const open = (given: Partial<KubernetesSettings> = {}): HostedDriver =>
  openKubernetes({
    ...world.settings,
    installationId: newId(),
    answerSeconds: 120,
    startSeconds: 120,
    stopSeconds: 120,
    snapshotSeconds: 120,
    ...given,
  })

/** For starts that never succeed. */
const hasty = { startSeconds: 0.2, stopSeconds: 0.2, leavingSeconds: 0.2 }

const aContainer = (given: Partial<Container> = {}): Container => ({
  id: newId(),
  clusterId: newId(),
  image: 'base:1',
  command: ['sleep', '600'],
  environment: {},
  limits: { cpus: 2, memoryMb: 4096, processes: 100 },
  mounts: [],
  ...given,
})

const aBuild = (given: Partial<ImageBuild> = {}): ImageBuild => ({
  clusterId: newId(),
  ref: `${world.settings.registry}/${newId()}:v1`,
  dockerfile: 'FROM base:1\nRUN true',
  limits: [],
  onLog() {},
  signal: new AbortController().signal,
  ...given,
})

const aVolume = (from: string | null = null) => ({
  id: `vol-${newId()}`,
  clusterId: newId(),
  from,
  sizeMb: 100,
})

/** All objects in the namespace that use resources. */
const left = () =>
  plurals.flatMap((plural) =>
    world.api.store.list(plural).map(({ metadata }) => `${plural} ${metadata?.name}`),
  )

/** Runs in the background; a rejection before it is awaited is not reported as unhandled. */
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  )

const aRunner = (digest: string): Runner => ({
  digest,
  node: ['/opt/millrace/bin/node'],
  archive() {
    const pack = tar.pack()
    pack.entry({ name: 'bin/node', mode: 0o755 }, digest)
    pack.finalize()
    return Readable.from(pack)
  },
})

/** Pushes a base image to the registry. */
const withBase = (digest: string, given: Partial<KubernetesSettings> = {}) => {
  const [host = ''] = world.settings.registry.split('/')
  const [baseImage, warnings] = [`${host}/base:1`, [] as string[]]
  world.registry.add(baseImage, baseLayer)
  const warn = (_: unknown, message: string) => void warnings.push(message)
  const driver = open({ runner: aRunner(digest), baseImage, warn, ...given })
  /** Returns the pod that ran. */
  const run = async (image = baseImage) => {
    const container = aContainer({ image })
    await driver.startContainer(container)
    const [pod] = world.api.store.list('pods')
    await driver.stopContainer(container.id)
    return pod?.spec
  }
  /** Waits until an image with the runner in it exists. */
  const runPrepared = (image = baseImage) =>
    eventually('the image has the runner', async () => {
      const spec = await run(image)
      return spec?.initContainers?.length === 0 ? spec : undefined
    })
  return { driver, baseImage, warnings, run, runPrepared }
}

const podSpec = () => world.api.store.list('pods')[0]?.spec

describe('an API server', () => {
  const operations: Array<[string, (driver: HostedDriver) => Promise<unknown>]> = [
    ['check', (driver) => driver.check()],
    ['startContainer', (driver) => driver.startContainer(aContainer())],
    ['stopContainer', (driver) => driver.stopContainer(newId())],
    ['listContainers', (driver) => driver.listContainers()],
    ['readOutput', (driver) => driver.readOutput(newId())],
    ['buildImage', (driver) => driver.buildImage(aBuild())],
    ['deleteImage', (driver) => driver.deleteImage(aBuild().ref)],
    ['listImages', (driver) => driver.listImages()],
    ['attachVolume', (driver) => driver.attachVolume(aVolume())],
    ['snapshotVolume', (driver) => driver.snapshotVolume(newId())],
    ['detachVolume', (driver) => driver.detachVolume(newId())],
    ['deleteSnapshot', (driver) => driver.deleteSnapshot(newId())],
    ['listVolumes', (driver) => driver.listVolumes()],
    ['setGitMirror', (driver) => driver.setGitMirror(newId(), true)],
    ['setContainerCache', (driver) => driver.setContainerCache(newId(), false)],
    ['listSharedVolumes', (driver) => driver.listSharedVolumes()],
    ['tidy', (driver) => driver.tidy()],
  ]

  it('gets all requests over one connection', async () => {
    const driver = open()
    for (let n = 0; n < 3; n++) await driver.listContainers()
    expect(world.api.connections).toBe(1)
  })

  it.each(operations)('that never answers is unavailable: %s', async (_, ask) => {
    world.api.fail('hangs')
    await expect(ask(open({ answerSeconds: 0.1 }))).rejects.toThrow(HostedUnavailable)
  })

  it.each(operations)(
    'that grants nothing is unavailable, and says what it does not grant: %s',
    async (_, ask) => {
      world.api.rules = []
      await expect(ask(open())).rejects.toThrow(
        expect.objectContaining({
          constructor: HostedUnavailable,
          message: expect.stringMatching(/cannot \w+ resource/),
        }),
      )
      expect(left()).toEqual([])
    },
  )

  it('without the namespace is unavailable, not a missing image', async () => {
    const driver = open({ namespace: 'elsewhere' })
    await expect(driver.startContainer(aContainer())).rejects.toThrow(HostedUnavailable)
    await expect(driver.stopContainer(newId())).rejects.toThrow('namespaces "elsewhere" not found')
  })

  it('may lose any answer, and a repeated request completes the operation', async () => {
    const [driver, clusterId] = [open({ snapshotClass: 'snapshots' }), newId()]
    const [volume, copy] = [aVolume(), aVolume()]
    const [container, build] = [
      aContainer({ clusterId, mounts: [{ kind: 'volume', id: volume.id, path: '/cache' }] }),
      aBuild({ clusterId }),
    ]
    const steps: Array<() => Promise<unknown>> = [
      () => driver.attachVolume(volume),
      () => driver.startContainer(container),
      () => driver.stopContainer(container.id),
      () => driver.snapshotVolume(volume.id),
      () => driver.detachVolume(volume.id),
      () => driver.attachVolume({ ...copy, from: volume.id }),
      () => driver.setGitMirror(clusterId, true),
      () => driver.buildImage(build),
    ]
    const undo: Array<() => Promise<unknown>> = [
      () => driver.deleteImage(build.ref),
      () => driver.setGitMirror(clusterId, false),
      () => driver.detachVolume(copy.id),
      () => driver.deleteSnapshot(volume.id),
    ]
    for (const step of steps) await losingAnswers(step)
    expect(await driver.listImages()).toEqual([build.ref])
    expect((await driver.listVolumes()).map(({ id }) => id).toSorted()).toEqual(
      [volume.id, copy.id].toSorted(),
    )
    for (const step of undo) await losingAnswers(step)
    world.cluster.deleteFinishedJobs()
    await eventually('all is gone', async () => left().length === 0)
  })

  /** Loses the first answer, then the second, and so on, until the operation succeeds. */
  async function losingAnswers(step: () => Promise<unknown>): Promise<void> {
    for (let answered = 0; answered < 50; answered++) {
      world.api.fail('cut off', answered)
      const error = await failureOf(step())
      world.api.fail('none')
      if (error === null) return
      expect(error).toBeInstanceOf(HostedUnavailable)
    }
    await step()
  }
})

describe('the role in docs/hosted-kubernetes.md', () => {
  const granted = async (): Promise<Rule[]> => {
    const page = await readFile(new URL('../../../../../docs/hosted-kubernetes.md', import.meta.url), 'utf8')
    const manifests = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].flatMap(([, manifest = '']) =>
      parseAllDocuments(manifest).map((document) => document.toJS() as { kind: string; rules?: Rule[] }),
    )
    return manifests.find(({ kind }) => kind === 'Role')?.rules ?? []
  }

  it('grants everything that the driver does, and nothing else', async () => {
    const rules = await granted()
    world.api.rules = rules
    world.api.store.create('secrets', { metadata: { name: 'millrace-registry' }, data: {} })
    world.registry.password = 'a:b'
    for (const snapshotClass of [null, 'snapshots']) await doEverything(snapshotClass)
    const wanted = rules.flatMap(({ resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
    )
    expect([...world.api.used].toSorted()).toEqual(wanted.toSorted())
    expect(left()).toEqual([])
  })

  async function doEverything(snapshotClass: string | null): Promise<void> {
    const driver = open({ snapshotClass, registrySecret: 'millrace-registry' })
    const [container, volume, copy] = [aContainer(), aVolume(), aVolume()]
    await driver.attachVolume(volume)
    await driver.startContainer({ ...container, mounts: [{ kind: 'volume', id: volume.id, path: '/cache' }] })
    await driver.readOutput(container.id)
    await driver.stopContainer(container.id)
    await driver.snapshotVolume(volume.id)
    await driver.detachVolume(volume.id)
    await driver.attachVolume({ ...copy, from: volume.id })
    await driver.deleteSnapshot(volume.id)
    await driver.detachVolume(copy.id)
    await driver.tidy()
    await driver.setGitMirror(container.clusterId, true)
    await driver.setGitMirror(container.clusterId, false)
    const build = aBuild()
    await driver.buildImage(build)
    await driver.buildImage(build)
    world.registry.password = null
    await driver.deleteImage(build.ref)
    world.registry.password = 'a:b'
    await expect(driver.deleteImage((await built(driver)).ref)).rejects.toThrow(HostedUnavailable)
    world.registry.password = null
    for (const ref of await driver.listImages()) await driver.deleteImage(ref)
  }

  async function built(driver: HostedDriver): Promise<ImageBuild> {
    const build = aBuild()
    await driver.buildImage(build)
    return build
  }
})

describe('a pod', () => {
  it('has the limits of its container, no service account, no privileges and no access to the node', async () => {
    const driver = open({ registrySecret: 'millrace-registry', runtimeClass: 'gvisor' })
    await driver.startContainer(aContainer())
    const [spec, container] = [podSpec(), podSpec()?.containers[0]]
    expect(spec).toMatchObject({
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      hostNetwork: false,
      hostPID: false,
      hostIPC: false,
      runtimeClassName: 'gvisor',
      imagePullSecrets: [{ name: 'millrace-registry' }],
      activeDeadlineSeconds: 86_400,
    })
    expect(spec?.volumes).toEqual([])
    expect(container?.resources).toEqual({
      limits: { cpu: '2', memory: '4096Mi' },
      requests: { cpu: '2', memory: '4096Mi' },
    })
    expect(container?.securityContext).toMatchObject({
      privileged: false,
      allowPrivilegeEscalation: false,
      seccompProfile: { type: 'RuntimeDefault' },
      capabilities: { drop: ['ALL'] },
    })
    for (const much of ['SYS_ADMIN', 'NET_ADMIN', 'NET_RAW', 'SYS_PTRACE', 'MKNOD']) {
      expect(container?.securityContext?.capabilities?.add).not.toContain(much)
    }
  })

  it('passes the limit of processes to the runner, because Kubernetes has none', async () => {
    const { run } = withBase('a1')
    expect((await run())?.containers[0]?.env).toEqual([{ name: 'MILLRACE_RUNNER_PROCESSES', value: '100' }])
  })

  it('has its exact environment and command, also with dollar signs', async () => {
    const driver = open()
    const container = aContainer({
      command: ['printenv', 'A'],
      environment: { A: '$(HOME) $$ $A $$(B)', B: 'no' },
    })
    await driver.startContainer(container)
    await eventually('it ends', async () => (await driver.listContainers())[0]?.exitStatus === 0)
    expect(await driver.readOutput(container.id)).toBe('$(HOME) $$ $A $$(B)\n')
  })

  it('is created after the policy that isolates it', async () => {
    world.api.rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'create', 'delete'] }]
    const driver = open({ outboundAllow: ['10.1.2.3'] })
    await expect(driver.startContainer(aContainer())).rejects.toThrow('networkpolicies')
    expect(left()).toEqual([])
    world.api.rules = null
    await driver.startContainer(aContainer())
    const [policy] = world.api.store.list('networkpolicies')
    const [pod] = world.api.store.list('pods')
    expect(policy?.spec).toMatchObject({
      podSelector: {
        matchLabels: { 'millrace.installation': pod?.metadata?.labels?.['millrace.installation'] },
      },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [],
    })
    const reached = JSON.stringify(policy?.spec)
    expect(reached).toContain('"cidr":"10.1.2.3/32"')
    expect(reached).toContain('169.254.0.0/16')
  })

  it('is not created while the network ignores policies, unless that is accepted', async () => {
    world.cluster.misbehaving.ignoresPolicies = true
    const { driver, run } = withBase('one')
    await expect(run()).rejects.toThrow(/ignores network policies.*MILLRACE_HOSTED_OPEN_NETWORK=on/)
    await expect(driver.buildImage(aBuild())).rejects.toThrow(HostedUnavailable)
    expect(world.api.store.list('pods')).toEqual([])
    await withBase('one', { isNetworkOpen: true }).run()
    world.cluster.behave()
    await expect(run()).rejects.toThrow(HostedUnavailable)
    await driver.tidy()
    await run()
  })

  it('is created with a warning if the network cannot be checked', async () => {
    const { warnings, run } = withBase('one')
    world.cluster.misbehaving.evicts = true
    await expect(run()).rejects.toThrow('Evicted')
    world.cluster.behave()
    await run()
    expect(warnings).toContain(
      'Whether the network of the Kubernetes cluster enforces policies could not be seen.',
    )
  })

  it('asks the registry for permission to use images that users name', async () => {
    await open()
      .startContainer(aContainer({ image: 'registry.example.com/theirs:1' }))
      .catch(() => {})
    const pull = async (image: string) => {
      const [driver, container] = [
        open({ ...hasty, startSeconds: 120, baseImage: 'base:1' }),
        aContainer({ image }),
      ]
      world.cluster.misbehaving.pullError = 'waits'
      const started = driver.startContainer(container).catch(() => {})
      await eventually('the pod is there', async () => podSpec() !== undefined)
      const policy = podSpec()?.containers[0]?.imagePullPolicy
      await driver.stopContainer(container.id)
      await started
      return policy
    }
    expect(await pull('registry.example.com/theirs:1')).toBe('Always')
    expect(await pull('base:1')).toBe('IfNotPresent')
  })

  it('is refused if the name of its image is not valid', async () => {
    await expect(open().startContainer(aContainer({ image: '../etc' }))).rejects.toThrow(HostedRefused)
    expect(left()).toEqual([])
  })

  it('that no node has room for is unavailable with the reason, and is deleted', async () => {
    world.cluster.misbehaving.hasNoNode = true
    await expect(open(hasty).startContainer(aContainer())).rejects.toThrow(
      expect.objectContaining({
        constructor: HostedUnavailable,
        message: expect.stringContaining('0/1 nodes are available'),
      }),
    )
    expect(left()).toEqual([])
  })

  it('that is evicted before it starts is unavailable, and is deleted', async () => {
    world.cluster.misbehaving.evicts = true
    await expect(open().startContainer(aContainer())).rejects.toThrow(
      expect.objectContaining({
        constructor: HostedUnavailable,
        message: expect.stringContaining('Evicted'),
      }),
    )
    expect(left()).toEqual([])
  })

  it('that is evicted while it runs has the exit status of a killed one', async () => {
    const [driver, container] = [open(), aContainer()]
    await driver.startContainer(container)
    world.cluster.evict(`millrace-${container.id}`)
    expect(await driver.listContainers()).toMatchObject([{ id: container.id, exitStatus: 137 }])
    await driver.stopContainer(container.id)
    expect(left()).toEqual([])
  })

  it('whose node is gone can be stopped', async () => {
    const [driver, container] = [open({ stopSeconds: hasty.stopSeconds }), aContainer()]
    await driver.startContainer(container)
    world.cluster.misbehaving.hasNoNode = true
    await driver.stopContainer(container.id)
    expect(left()).toEqual([])
  })

  it('that builds an image and never starts says why, and ends with its time', async () => {
    world.cluster.misbehaving.hasNoNode = true
    const [driver, stopping] = [open(), new AbortController()]
    let log = ''
    const onLog = (text: string) => {
      log += text
      world.cluster.behave()
      stopping.abort(new HostedRefused('The time is over.'))
    }
    await expect(driver.buildImage(aBuild({ onLog, signal: stopping.signal }))).rejects.toThrow(
      'The time is over.',
    )
    expect(log).toBe('The build waits: 0/1 nodes are available.\n')
    expect(left()).toEqual([])
  })

  it('that is stopped while it starts does not start', async () => {
    const [driver, container] = [open({ ...hasty, startSeconds: 120 }), aContainer()]
    world.cluster.misbehaving.hasNoNode = true
    const starting = driver.startContainer(container)
    const failed = failureOf(starting)
    await eventually('the pod is there', async () => podSpec() !== undefined)
    await driver.stopContainer(container.id)
    expect(await failed).toBeInstanceOf(HostedUnavailable)
    expect(left()).toEqual([])
  })

  it.each([
    ['failed to resolve reference "x": not found', HostedNotFound],
    ['pull access denied, repository does not exist or may require authorization', HostedNotFound],
    ['failed to do request: dial tcp: connection refused', HostedUnavailable],
  ])('whose image cannot be pulled: %s', async (message, failure) => {
    world.cluster.misbehaving.pullError = message
    await expect(open(hasty).startContainer(aContainer())).rejects.toThrow(failure)
    expect(left()).toEqual([])
  })

  it('whose claim is never bound is unavailable, and only the claim is left', async () => {
    world.cluster.misbehaving.claimsBind = false
    const [driver, volume] = [open(hasty), aVolume()]
    await driver.attachVolume(volume)
    const mounts = [{ kind: 'volume', id: volume.id, path: '/cache' } as const]
    await expect(driver.startContainer(aContainer({ mounts }))).rejects.toThrow(
      expect.objectContaining({
        constructor: HostedUnavailable,
        message: expect.stringContaining('unbound claim'),
      }),
    )
    expect(await driver.listContainers()).toEqual([])
    await driver.detachVolume(volume.id)
    expect(left()).toEqual([])
  })
})

describe('an image', () => {
  it('is built without credentials, between two steps that have them', async () => {
    const driver = open({ registrySecret: 'millrace-registry' })
    const stopping = new AbortController()
    const build = aBuild({ dockerfile: 'FROM base:1\nRUN sleep 600', signal: stopping.signal })
    const failed = failureOf(driver.buildImage(build))
    await eventually('the job is there', async () => world.api.store.list('jobs').length > 0)
    const { template } = world.api.store.list('jobs')[0]?.spec ?? {}
    const steps = [...(template?.spec?.initContainers ?? []), ...(template?.spec?.containers ?? [])]
    expect(
      steps.map(({ name, volumeMounts }) => [
        name,
        volumeMounts?.some((mount) => mount.name === 'credentials'),
      ]),
    ).toEqual([
      ['base', true],
      ['build', false],
      ['push', true],
    ])
    for (const { securityContext } of steps) expect(securityContext).toMatchObject({ privileged: false })
    expect(template?.spec).toMatchObject({ automountServiceAccountToken: false, restartPolicy: 'Never' })
    stopping.abort(new Error('Enough was seen.'))
    expect(await failed).toMatchObject({ message: 'Enough was seen.' })
  })

  it('whose builder is evicted is unavailable, and nothing is left', async () => {
    world.cluster.misbehaving.buildsEvicted = true
    const driver = open()
    await expect(driver.buildImage(aBuild())).rejects.toThrow('Evicted')
    expect(left()).toEqual([])
    world.cluster.behave()
    const build = aBuild()
    await driver.buildImage(build)
    expect(await driver.listImages()).toEqual([build.ref])
  })

  it('is built again after the process that built it died', async () => {
    const [driver, build] = [open(), aBuild({ dockerfile: 'FROM base:1\nRUN sleep 600' })]
    const dying = driver.buildImage(build)
    const failed = failureOf(dying)
    await eventually('the builder works', async () =>
      world.api.store.list('pods').some(({ status }) => status?.initContainerStatuses?.length === 2),
    )
    world.api.fail('not reached')
    expect(await failed).toBeInstanceOf(HostedUnavailable)
    world.api.fail('none')
    expect(world.api.store.list('jobs')).toHaveLength(1)
    await driver.buildImage({ ...build, dockerfile: 'FROM base:1\nRUN true' })
    expect(await driver.listImages()).toEqual([build.ref])
    expect([world.api.store.list('jobs'), world.api.store.list('pods')]).toEqual([[], []])
  })

  it('is refused if its instructions are too large for an object', async () => {
    const dockerfile = `FROM base:1\n# ${'x'.repeat(300_000)}\n`
    await expect(open().buildImage(aBuild({ dockerfile }))).rejects.toThrow(HostedRefused)
    expect(left()).toEqual([])
  })

  it('is deleted also if the registry does not support deletion, but not while the registry is unreachable', async () => {
    const [driver, build] = [open(), aBuild()]
    await driver.buildImage(build)
    expect(world.registry.manifests.size).toBe(1)
    world.registry.password = 'nobody:knows'
    await expect(driver.deleteImage(build.ref)).rejects.toThrow(HostedUnavailable)
    expect(await driver.listImages()).toEqual([build.ref])
    world.registry.password = null
    world.registry.deletes = false
    await driver.deleteImage(build.ref)
    expect(await driver.listImages()).toEqual([])
  })

  it('is gone from the registry when it is deleted or replaced', async () => {
    const [driver, build] = [open(), aBuild()]
    await driver.buildImage(build)
    await driver.buildImage(build)
    expect(world.registry.manifests.size).toBe(1)
    await driver.deleteImage(build.ref)
    expect(world.registry.manifests.size).toBe(0)
  })
})

describe('a volume', () => {
  async function use(driver: HostedDriver, id: string): Promise<void> {
    const container = aContainer({ mounts: [{ kind: 'volume', id, path: '/cache' }] })
    await driver.startContainer(container)
    await driver.stopContainer(container.id)
  }

  it.each([null, 'snapshots'])(
    'outlives its deletion until its copies are made (snapshots: %s)',
    async (snapshotClass) => {
      const [driver, volume, copy] = [open({ snapshotClass }), aVolume(), aVolume()]
      await driver.attachVolume(volume)
      await use(driver, volume.id)
      await driver.snapshotVolume(volume.id)
      await driver.detachVolume(volume.id)
      await driver.attachVolume({ ...copy, from: volume.id })
      await driver.deleteSnapshot(volume.id)
      expect(await driver.listVolumes()).toMatchObject([{ id: copy.id }])
      // Repeated by a process that did not get the answer.
      await driver.attachVolume({ ...copy, from: volume.id })
      await driver.tidy()
      expect(left()).toHaveLength(2)
      await use(driver, copy.id)
      await driver.tidy()
      expect(left()).toEqual([`persistentvolumeclaims millrace-${copy.id}`])
    },
  )

  it('whose snapshot the storage cannot make is unavailable with the reason, and stays attached', async () => {
    world.cluster.misbehaving.snapshotsWork = false
    const [settings, volume] = [{ snapshotClass: 'snapshots', installationId: newId() }, aVolume()]
    const [driver, impatient] = [open(settings), open({ ...settings, snapshotSeconds: 0.2 })]
    await driver.attachVolume(volume)
    await expect(impatient.snapshotVolume(volume.id)).rejects.toThrow(
      expect.objectContaining({
        constructor: HostedUnavailable,
        message: expect.stringContaining('no room'),
      }),
    )
    expect(await driver.listVolumes()).toMatchObject([{ isAttached: true, hasSnapshot: false }])
    world.cluster.behave()
    expect(await driver.snapshotVolume(volume.id)).toEqual({ sizeMb: 100 })
  })

  it('is never smaller than its snapshot', async () => {
    const [driver, volume, copy] = [open(), aVolume(), aVolume()]
    await driver.attachVolume({ ...volume, sizeMb: 500 })
    await driver.snapshotVolume(volume.id)
    await driver.attachVolume({ ...copy, from: volume.id, sizeMb: 100 })
    const claim = world.api.store.get('persistentvolumeclaims', `millrace-${copy.id}`)
    expect(claim.spec?.resources?.requests).toEqual({ storage: '500Mi' })
  })

  it('that is shared is refused if no storage class for it is configured', async () => {
    const driver = open({ sharedStorageClass: null })
    await expect(driver.setGitMirror(newId(), true)).rejects.toThrow(HostedRefused)
    await driver.setGitMirror(newId(), false)
    expect(left()).toEqual([])
  })

  it('that is shared stays in the list of shared volumes while a pod uses it', async () => {
    const [driver, clusterId] = [open({ leavingSeconds: hasty.leavingSeconds }), newId()]
    await driver.setGitMirror(clusterId, true)
    const container = aContainer({
      clusterId,
      mounts: [{ kind: 'git_mirror', path: '/mirror', readOnly: true }],
    })
    await driver.startContainer(container)
    await driver.setGitMirror(clusterId, false)
    expect(await driver.listSharedVolumes()).toEqual([{ clusterId, gitMirror: true, containerCache: false }])
    await expect(driver.setGitMirror(clusterId, true)).rejects.toThrow(HostedUnavailable)
    await driver.stopContainer(container.id)
    expect(await driver.listSharedVolumes()).toEqual([])
  })
})

describe('the runner', () => {
  const manifestsOf = (name: string) =>
    [...world.registry.manifests].flatMap(([key, text]) => (key.startsWith(`${name}@`) ? [text] : []))

  it('is copied into a pod until an image contains it', async () => {
    const { run } = withBase('one')
    const spec = await run()
    expect(spec?.initContainers).toMatchObject([
      {
        image: expect.stringMatching(/\/runner:one@sha256:[0-9a-f]{64}$/),
        command: ['/opt/millrace/bin/node', '-e', expect.stringContaining('/opt/millrace')],
      },
    ])
    expect(spec?.containers[0]?.volumeMounts).toEqual([
      { name: 'runner', mountPath: '/opt/millrace', readOnly: true },
    ])
  })

  it('is pushed once, with the password of the secret, and stacked on the base image', async () => {
    const auth = Buffer.from('ci:secret').toString('base64')
    const config = JSON.stringify({ auths: { [world.settings.registry.split('/')[0] ?? '']: { auth } } })
    const data = { '.dockerconfigjson': Buffer.from(config).toString('base64') }
    world.api.store.create('secrets', { metadata: { name: 'millrace-registry' }, data })
    world.registry.password = 'ci:secret'
    const { run, runPrepared } = withBase('one', { registrySecret: 'millrace-registry' })
    await Promise.all([run(), run()])
    const spec = await runPrepared()
    expect(spec?.containers[0]).toMatchObject({
      image: expect.stringMatching(/\/millrace\/base:[0-9a-f]+-runner-one@sha256:[0-9a-f]{64}$/),
      imagePullPolicy: 'IfNotPresent',
    })
    expect(spec?.volumes).toEqual([])
    expect(manifestsOf('millrace/runner')).toHaveLength(1)
    const [manifest = ''] = manifestsOf('millrace/base')
    const { layers, config: made } = JSON.parse(manifest) as { layers: Blob[]; config: Blob }
    expect(layers.map(({ mediaType }) => mediaType)).toEqual([
      'application/vnd.oci.image.layer.v1.tar+gzip',
      'application/vnd.oci.image.layer.v1.tar',
    ])
    expect(blob('base', layers[0]).toString()).toBe(baseLayer)
    expect(await filesIn(blob('base', layers[1]))).toEqual({ 'opt/millrace/bin/node': 'one' })
    expect(JSON.parse(blob('base', made).toString())).toEqual({
      config: { Env: ['A=b'] },
      rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => digest) },
    })
  })

  interface Blob {
    digest: string
    mediaType: string
  }
  const blob = (name: string, one: Blob | undefined) =>
    world.registry.blobs.get(`millrace/${name}@${one?.digest}`) ?? Buffer.alloc(0)

  it.each([true, false])('is stacked on built images (registry mounts layers: %s)', async (mounts) => {
    world.registry.mounts = mounts
    const { driver, runPrepared } = withBase('one')
    const build = aBuild()
    await driver.buildImage(build)
    const first = (await runPrepared(build.ref))?.containers[0]?.image
    expect(first).toContain(`${build.ref}-runner-one@sha256:`)
    await driver.buildImage(build)
    const second = await eventually('the new image runs', async () => {
      const image = (await runPrepared(build.ref))?.containers[0]?.image
      return image === first ? undefined : image
    })
    expect(second).toContain(`${build.ref}-runner-one@sha256:`)
    await driver.deleteImage(build.ref)
    expect(world.registry.manifests.size).toBe(2)
    expect(left()).toEqual([expect.stringContaining('configmaps millrace-runner-')])
  })

  it('does not allow an image to be deleted that a pod uses', async () => {
    const { driver, runPrepared } = withBase('one')
    const build = aBuild()
    await driver.buildImage(build)
    await runPrepared(build.ref)
    const container = aContainer({ image: build.ref })
    await driver.startContainer(container)
    await expect(driver.deleteImage(build.ref)).rejects.toThrow(HostedInUse)
    await driver.stopContainer(container.id)
    await driver.deleteImage(build.ref)
  })

  it('is stacked on the current base image', async () => {
    const { driver, baseImage, runPrepared } = withBase('one')
    const first = (await runPrepared())?.containers[0]?.image
    world.registry.add(baseImage, 'another')
    expect((await runPrepared())?.containers[0]?.image).toBe(first)
    await driver.tidy()
    await eventually('it is on top of the other, and the first is gone', async () => {
      const made = manifestsOf('millrace/base')
      return made.length === 1 && made.join().includes(digestOf('another'))
    })
  })

  it('is copied with a warning if the base image cannot be read', async () => {
    const { warnings, run } = withBase('one')
    world.registry.manifests.clear()
    await run()
    await eventually('it is said', async () => warnings.length > 0)
    expect((await run())?.initContainers).toHaveLength(1)
    expect(warnings).toEqual([expect.stringContaining('could not be put into')])
  })

  it('is stacked again on an image that the registry has lost, and no job fails', async () => {
    const { run, runPrepared } = withBase('one')
    await runPrepared()
    for (const key of world.registry.manifests.keys()) {
      if (key.startsWith('millrace/base@')) world.registry.manifests.delete(key)
    }
    await expect(run()).rejects.toThrow(HostedUnavailable)
    expect((await run())?.initContainers).toHaveLength(1)
    await runPrepared()
  })

  it('of an older version is deleted, also from the registry, with the images that contain it', async () => {
    const installationId = newId()
    await withBase('one', { installationId }).runPrepared()
    const { driver, runPrepared } = withBase('two', { installationId })
    await runPrepared()
    expect(world.registry.manifests.size).toBe(5)
    await driver.tidy()
    expect(world.registry.manifests.size).toBe(3)
    expect(world.api.store.list('configmaps').map(({ data }) => data?.['ref'])).toEqual([
      expect.stringContaining(':two'),
      expect.stringContaining('-runner-two'),
    ])
  })

  it('stops being pushed without a warning when the driver is closed', async () => {
    const { driver, warnings, runPrepared } = withBase('one')
    await runPrepared()
    world.registry.hangs = true
    await driver.tidy()
    await driver.close()
    expect(warnings).toEqual([])
  })

  it('that cannot be pushed makes the start unavailable, and leaves no pod', async () => {
    world.registry.password = 'nobody:knows'
    await expect(withBase('one').run()).rejects.toThrow(HostedUnavailable)
    expect(left()).toEqual([])
  })

  async function filesIn(layer: Buffer): Promise<Record<string, string>> {
    const files: Record<string, string> = {}
    for await (const entry of Readable.from([layer]).pipe(tar.extract())) {
      files[entry.header.name] = await text(entry)
    }
    return files
  }
})
