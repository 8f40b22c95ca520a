// The contract of all hosted drivers, tested on each of them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startGate, type Gate } from '../../../../testbed/src/gate.ts'
import { needing } from '../../../../testbed/src/needing.ts'
import { acquireEngines, type EngineChoice } from '../../../../testbed/src/test-engines.ts'
import { eventually } from '../../test/eventually.ts'
import { kubernetesSubjects } from '../../test/hosted/kubernetes/subjects.ts'
import { MemoryEngine } from '../../test/hosted/memory-engine.ts'
import type { Subject } from '../../test/hosted/subject.ts'
import { newId } from '../lib/ids.ts'
import { openDocker } from './docker/driver.ts'
import {
  HostedNotFound,
  HostedRefused,
  HostedInUse,
  HostedUnavailable,
  type Container,
  type HostedDriver,
  type ImageBuild,
} from './driver.ts'

const memory = new MemoryEngine()
const subjects: Subject[] = [
  {
    name: 'in memory',
    tests: { describe },
    base: 'base:1',
    registry: 'localhost/millrace',
    async start() {},
    async stop() {},
    open: (id) => memory.open(id),
    async breakOff() {
      const operations = Object.keys(memory.open(newId())) as Array<keyof HostedDriver>
      memory.fail('not reached', ...operations)
    },
    async recover() {
      memory.recover()
    },
  },
  ...(await acquireEngines()).map(onEngine),
  ...kubernetesSubjects(),
]

function onEngine({ name, lacks, get, release }: EngineChoice): Subject {
  let gate: Gate | null = null
  return {
    name: `on ${name}`,
    tests: needing('containers', lacks),
    base: 'localhost/millrace-test/base:1',
    registry: 'localhost/millrace',
    async start() {
      gate = await startGate(get().socketPath)
    },
    async stop() {
      await gate?.remove()
      release()
    },
    open: (installationId) =>
      openDocker({
        socketPath: gate?.socketPath ?? '',
        installationId,
        registry: 'localhost/millrace',
        helperImage: 'localhost/millrace-test/base:1',
        allowed: [],
        runner: null,
      }),
    breakOff: async () => gate?.close(),
    recover: async () => gate?.open(),
  }
}

for (const subject of subjects)
  subject.tests.describe(`the hosted driver ${subject.name}`, () => {
    beforeAll(() => subject.start())
    afterAll(() => subject.stop())

    /** A driver of a new installation, with helpers for the tests. */
    function place() {
      const installationId = newId()
      const driver = subject.open(installationId)
      const clusterId = newId()
      const start = async (command: string[], given: Partial<Container> = {}) => {
        const id = newId()
        await driver.startContainer({
          id,
          clusterId,
          image: subject.base,
          command,
          environment: {},
          limits: { cpus: 1, memoryMb: 64, processes: 50 },
          mounts: [],
          ...given,
        })
        return given.id ?? id
      }
      const find = async (id: string) => (await driver.listContainers()).find((one) => one.id === id)
      /** Concurrent waits share one list, because twenty lists at once are slow on every engine. */
      let looking: ReturnType<typeof driver.listContainers> | null = null
      const look = () =>
        (looking ??= driver.listContainers().finally(() => {
          looking = null
        }))
      const ended = async (id: string) =>
        eventually('the container ends', async () => {
          const { exitStatus = null } = (await look()).find((one) => one.id === id) ?? {}
          return exitStatus === null ? undefined : { exitStatus, output: await driver.readOutput(id) }
        })
      const run = async (command: string[], given: Partial<Container> = {}) => {
        const id = await start(command, given)
        const end = await ended(id)
        await driver.stopContainer(id)
        return end
      }
      const inVolume = (id: string) => ({ mounts: [{ kind: 'volume', id, path: '/cache' } as const] })
      const attach = async (from: string | null = null) => {
        const id = `vol-${newId()}`
        await driver.attachVolume({ id, clusterId, from, sizeMb: 100 })
        return id
      }
      /** Makes a snapshot after a container ran this command in a copy of another snapshot. */
      const keep = async (command: string[], from: string | null = null) => {
        const id = await attach(from)
        expect(await run(command, inVolume(id))).toMatchObject({ exitStatus: 0 })
        await driver.snapshotVolume(id)
        await driver.detachVolume(id)
        return id
      }
      const build = async (instructions: string, given: Partial<ImageBuild> = {}) => {
        const ref = `${subject.registry}/${newId()}:v1`
        let log = ''
        const dockerfile = `FROM ${subject.base}\n${instructions}`
        const limits = [{ cpus: 1, memoryMb: 512, processes: 100 }]
        const { signal } = new AbortController()
        const onLog = (text: string) => void (log += text)
        await driver.buildImage({ clusterId, ref, dockerfile, limits, onLog, signal, ...given })
        return { ref: given.ref ?? ref, log }
      }
      return { driver, installationId, clusterId, start, find, ended, run, attach, keep, inVolume, build }
    }

    describe('containers', () => {
      it('run a command to its end and report its exit status', async () => {
        const { run } = place()
        expect(await run(['true'])).toMatchObject({ exitStatus: 0 })
        expect(await run(['false'])).toMatchObject({ exitStatus: 1 })
      })

      it('have their environment, and their output can be read', async () => {
        const { run } = place()
        expect(await run(['printenv', 'COLOR'], { environment: { COLOR: 'blue = green' } })).toEqual({
          exitStatus: 0,
          output: 'blue = green\n',
        })
      })

      it('are listed while they run and after they ended, until they are stopped', async () => {
        const { driver, clusterId, start, find, ended } = place()
        const id = await start(['sleep', '600'])
        expect(await find(id)).toEqual({ id, clusterId, exitStatus: null })
        await driver.stopContainer(id)
        expect(await find(id)).toBeUndefined()
        const short = await start(['true'])
        await ended(short)
        expect(await find(short)).toEqual({ id: short, clusterId, exitStatus: 0 })
        await driver.stopContainer(short)
        expect(await driver.listContainers()).toEqual([])
      })

      it('are started once, however often the request is repeated', async () => {
        const { driver, start } = place()
        const id = newId()
        await Promise.all([
          start(['sleep', '600'], { id }),
          start(['sleep', '600'], { id }),
          start(['sleep', '600'], { id }),
        ])
        await start(['sleep', '600'], { id })
        expect(await driver.listContainers()).toHaveLength(1)
        await driver.stopContainer(id)
      })

      it('are stopped once, however often the request is repeated, also if they never existed', async () => {
        const { driver, start } = place()
        const id = await start(['sleep', '600'])
        await Promise.all([driver.stopContainer(id), driver.stopContainer(id)])
        await driver.stopContainer(id)
        await driver.stopContainer(newId())
        expect(await driver.listContainers()).toEqual([])
      })

      it('are not found: output of one that never existed', async () => {
        await expect(place().driver.readOutput(newId())).rejects.toThrow(HostedNotFound)
      })

      it('are not found: an image that was never built, and nothing is left behind', async () => {
        const { driver, start } = place()
        const image = `${subject.registry}/${newId()}:v1`
        await expect(start(['true'], { image })).rejects.toThrow(HostedNotFound)
        expect(await driver.listContainers()).toEqual([])
      })

      it('are refused: a command that the image does not have, and nothing is left behind', async () => {
        const { driver, start } = place()
        await expect(start(['no-such-program'])).rejects.toThrow(HostedRefused)
        expect(await driver.listContainers()).toEqual([])
      })

      it('belong to the installation that started them', async () => {
        const [mine, theirs] = [place(), place()]
        const id = await mine.start(['sleep', '600'])
        expect(await theirs.driver.listContainers()).toEqual([])
        await theirs.driver.stopContainer(id)
        await expect(theirs.driver.readOutput(id)).rejects.toThrow(HostedNotFound)
        expect(await mine.find(id)).toMatchObject({ exitStatus: null })
        await mine.driver.stopContainer(id)
      })

      it('are listed by another driver of the same installation', async () => {
        const { driver, installationId, start } = place()
        const id = await start(['sleep', '600'])
        await driver.close()
        const other = subject.open(installationId)
        expect(await other.listContainers()).toMatchObject([{ id, exitStatus: null }])
        await other.stopContainer(id)
      })
    })

    describe('images', () => {
      it('contain the results of their instructions, and the build has a log', async () => {
        const { driver, build, run } = place()
        const { ref, log } = await build('RUN cp /etc/two /tool\nRUN cat /tool')
        expect(log).toContain('RUN cp /etc/two /tool')
        expect(log).toContain('two')
        expect(await run(['cat', '/tool'], { image: ref })).toEqual({ exitStatus: 0, output: 'two\n' })
        expect(await run(['cat', '/tool'])).toMatchObject({ exitStatus: 1 })
        await driver.deleteImage(ref)
      })

      it('can be the base image alone', async () => {
        const { driver, build, run } = place()
        const { ref } = await build('')
        expect(await run(['cat', '/etc/one'], { image: ref })).toEqual({ exitStatus: 0, output: 'one\n' })
        await driver.deleteImage(ref)
      })

      it('are refused with the reason if an instruction fails, and none is left', async () => {
        const { driver, build } = place()
        await expect(build('RUN cp /etc/two /tool\nRUN false')).rejects.toThrow(
          expect.objectContaining({
            constructor: HostedRefused,
            message: expect.stringContaining('false'),
          }),
        )
        await expect(build('NONSENSE 1')).rejects.toThrow(HostedRefused)
        expect(await driver.listImages()).toEqual([])
      })

      it('are refused if the base image does not exist', async () => {
        const { build } = place()
        const dockerfile = `FROM ${subject.registry}/nowhere:v1\nRUN true`
        await expect(build('', { dockerfile })).rejects.toThrow(HostedRefused)
      })

      it('are replaced when they are built again under the same name', async () => {
        const { driver, build, run } = place()
        const { ref } = await build('RUN cp /etc/one /tool')
        await build('RUN cp /etc/two /tool', { ref })
        expect(await run(['cat', '/tool'], { image: ref })).toMatchObject({ output: 'two\n' })
        expect(await driver.listImages()).toEqual([ref])
        await driver.deleteImage(ref)
      })

      it('are not created when the build is aborted', async () => {
        const { driver, build } = place()
        const stopping = new AbortController()
        const reason = new Error('took too long')
        const onLog = (text: string) => {
          if (text.includes('sleep')) stopping.abort(reason)
        }
        await expect(build('RUN sleep 600', { onLog, signal: stopping.signal })).rejects.toBe(reason)
        await expect(build('RUN true', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
        expect(await driver.listImages()).toEqual([])
      })

      it('are listed until they are deleted, which can be repeated', async () => {
        const { driver, build, start } = place()
        const [one, two] = [await build('RUN true'), await build('RUN cat /etc/one')]
        expect((await driver.listImages()).toSorted()).toEqual([one.ref, two.ref].toSorted())
        expect(await place().driver.listImages()).toEqual([])
        await driver.deleteImage(one.ref)
        await driver.deleteImage(one.ref)
        expect(await driver.listImages()).toEqual([two.ref])
        await expect(start(['true'], { image: one.ref })).rejects.toThrow(HostedNotFound)
        await driver.deleteImage(two.ref)
      })

      it('cannot be deleted while a container uses them', async () => {
        const { driver, build, start, find } = place()
        const { ref } = await build('RUN true')
        const id = await start(['sleep', '600'], { image: ref })
        await expect(driver.deleteImage(ref)).rejects.toThrow(HostedInUse)
        expect(await driver.listImages()).toEqual([ref])
        expect(await find(id)).toMatchObject({ exitStatus: null })
        await driver.stopContainer(id)
        await driver.deleteImage(ref)
        expect(await driver.listImages()).toEqual([])
      })
    })

    describe('volumes', () => {
      it('are empty at first, and a snapshot has what a container wrote', async () => {
        const { driver, run, attach, keep, inVolume } = place()
        const kept = await keep(['cp', '/etc/one', '/cache/a'])
        const copy = await attach(kept)
        expect(await run(['cat', '/cache/a'], inVolume(copy))).toEqual({ exitStatus: 0, output: 'one\n' })
        const empty = await attach()
        expect(await run(['cat', '/cache/a'], inVolume(empty))).toMatchObject({ exitStatus: 1 })
        await Promise.all([copy, empty].map((id) => driver.detachVolume(id)))
        await driver.deleteSnapshot(kept)
        expect(await driver.listVolumes()).toEqual([])
      })

      it('are listed as attached, as snapshots, or as both', async () => {
        const { driver, clusterId, run, attach, inVolume } = place()
        const id = await attach()
        await run(['true'], inVolume(id))
        const listed = async () => (await driver.listVolumes()).filter((volume) => volume.id === id)
        expect(await listed()).toEqual([{ id, clusterId, isAttached: true, hasSnapshot: false }])
        expect((await driver.snapshotVolume(id)).sizeMb).toBeGreaterThanOrEqual(0)
        expect(await listed()).toEqual([{ id, clusterId, isAttached: true, hasSnapshot: true }])
        expect(await place().driver.listVolumes()).toEqual([])
        await driver.detachVolume(id)
        expect(await listed()).toEqual([{ id, clusterId, isAttached: false, hasSnapshot: true }])
        await driver.deleteSnapshot(id)
        expect(await listed()).toEqual([])
      })

      it('are deleted when they are detached without a snapshot', async () => {
        const { driver, run, attach, inVolume } = place()
        const id = await attach()
        await run(['cp', '/etc/one', '/cache/a'], inVolume(id))
        await driver.detachVolume(id)
        expect(await driver.listVolumes()).toEqual([])
        await expect(driver.snapshotVolume(id)).rejects.toThrow(HostedNotFound)
      })

      it('are copies: 20 at once each have the contents of the snapshot, and none sees the writes of another', async () => {
        const { driver, run, attach, keep, inVolume } = place()
        const kept = await keep(['cp', '/etc/one', '/cache/a'])
        const copies = await Promise.all(Array.from({ length: 20 }, () => attach(kept)))
        const ends = await Promise.all(
          copies.map((id, index) =>
            run(index % 2 === 0 ? ['cp', '/etc/two', '/cache/a'] : ['cat', '/cache/a'], inVolume(id)),
          ),
        )
        expect(ends.map(({ output }) => output)).toEqual(
          copies.map((_, index) => (index % 2 === 0 ? '' : 'one\n')),
        )
        const again = await attach(kept)
        expect(await run(['cat', '/cache/a'], inVolume(again))).toMatchObject({ output: 'one\n' })
        await Promise.all([again, ...copies].map((id) => driver.detachVolume(id)))
        await driver.deleteSnapshot(kept)
        expect(await driver.listVolumes()).toEqual([])
      })

      it('have the contents of all earlier generations, whose deletion leaves nothing behind', async () => {
        const { driver, run, attach, keep, inVolume } = place()
        let newest = await keep(['cp', '/etc/one', '/cache/0'])
        for (let generation = 1; generation <= 10; generation++) {
          const next = await keep(['cp', '/etc/two', `/cache/${generation}`], newest)
          await driver.deleteSnapshot(newest)
          newest = next
        }
        const copy = await attach(newest)
        expect(await run(['cat', '/cache/0', '/cache/7', '/cache/10'], inVolume(copy))).toEqual({
          exitStatus: 0,
          output: 'one\ntwo\ntwo\n',
        })
        await driver.detachVolume(copy)
        expect(await driver.listVolumes()).toMatchObject([{ id: newest }])
        await driver.deleteSnapshot(newest)
        expect(await driver.listVolumes()).toEqual([])
      })

      it('stay complete when the snapshot they are copies of is deleted', async () => {
        const { driver, run, attach, keep, inVolume } = place()
        const kept = await keep(['cp', '/etc/one', '/cache/a'])
        const copy = await attach(kept)
        await driver.deleteSnapshot(kept)
        expect(await run(['cat', '/cache/a'], inVolume(copy))).toMatchObject({ output: 'one\n' })
        await driver.snapshotVolume(copy)
        await driver.detachVolume(copy)
        const next = await attach(copy)
        expect(await run(['cat', '/cache/a'], inVolume(next))).toMatchObject({ output: 'one\n' })
        await driver.detachVolume(next)
        await driver.deleteSnapshot(copy)
        expect(await driver.listVolumes()).toEqual([])
      })

      it('allow every request to be repeated', async () => {
        const { driver, clusterId, run, attach, inVolume } = place()
        const id = await attach()
        await run(['cp', '/etc/one', '/cache/a'], inVolume(id))
        await driver.attachVolume({ id, clusterId, from: null, sizeMb: 100 })
        await Promise.all([driver.snapshotVolume(id), driver.snapshotVolume(id)])
        await driver.detachVolume(id)
        await Promise.all([driver.snapshotVolume(id), driver.detachVolume(id)])
        const copy = await attach(id)
        expect(await run(['cat', '/cache/a'], inVolume(copy))).toMatchObject({ output: 'one\n' })
        await Promise.all([driver.detachVolume(copy), driver.detachVolume(copy)])
        await Promise.all([driver.deleteSnapshot(id), driver.deleteSnapshot(id)])
        await driver.deleteSnapshot(id)
        expect(await driver.listVolumes()).toEqual([])
      })

      it('are not found: a copy of an unknown snapshot, a mount of a volume that was never attached', async () => {
        const { driver, start, attach, inVolume } = place()
        await expect(attach(`vol-${newId()}`)).rejects.toThrow(HostedNotFound)
        await expect(start(['true'], inVolume(`vol-${newId()}`))).rejects.toThrow(HostedNotFound)
        expect([await driver.listVolumes(), await driver.listContainers()]).toEqual([[], []])
      })
    })

    describe('shared volumes of a cluster', () => {
      const mirror = (readOnly: boolean) => ({
        mounts: [{ kind: 'git_mirror', path: '/mirror', readOnly } as const],
      })
      const cache = { mounts: [{ kind: 'container_cache', path: '/layers', readOnly: false } as const] }

      it('exist while they are enabled', async () => {
        const { driver, clusterId, run, start } = place()
        await expect(start(['true'], mirror(true))).rejects.toThrow(HostedNotFound)
        await driver.setGitMirror(clusterId, true)
        await driver.setGitMirror(clusterId, true)
        await driver.setContainerCache(clusterId, true)
        expect(await driver.listSharedVolumes()).toEqual([
          { clusterId, gitMirror: true, containerCache: true },
        ])
        expect(await run(['cp', '/etc/one', '/mirror/a'], mirror(false))).toMatchObject({ exitStatus: 0 })
        expect(await run(['cat', '/mirror/a'], mirror(true))).toMatchObject({ output: 'one\n' })
        expect(await run(['cp', '/etc/two', '/layers/a'], cache)).toMatchObject({ exitStatus: 0 })
        await driver.setGitMirror(clusterId, false)
        await driver.setGitMirror(clusterId, false)
        expect(await driver.listSharedVolumes()).toEqual([
          { clusterId, gitMirror: false, containerCache: true },
        ])
        await expect(start(['true'], mirror(true))).rejects.toThrow(HostedNotFound)
        await driver.setContainerCache(clusterId, false)
        expect([await driver.listSharedVolumes(), await driver.listContainers()]).toEqual([[], []])
      })

      it('cannot be written through a read-only mount', async () => {
        const { driver, clusterId, run } = place()
        await driver.setGitMirror(clusterId, true)
        const { exitStatus } = await run(['cp', '/etc/two', '/mirror/a'], mirror(true))
        expect(exitStatus).not.toBe(0)
        expect(await run(['cat', '/mirror/a'], mirror(true))).toMatchObject({ exitStatus: 1 })
        await driver.setGitMirror(clusterId, false)
      })

      it('are not shared with other clusters', async () => {
        const { driver, clusterId, run } = place()
        const other = newId()
        await driver.setGitMirror(clusterId, true)
        await driver.setGitMirror(other, true)
        await run(['cp', '/etc/one', '/mirror/a'], mirror(false))
        const elsewhere = await run(['cat', '/mirror/a'], { ...mirror(true), clusterId: other })
        expect(elsewhere).toMatchObject({ exitStatus: 1 })
        await driver.setGitMirror(clusterId, false)
        await driver.setGitMirror(other, false)
      })
    })

    it('is unavailable in every operation while the engine is unreachable, and works again afterwards', async () => {
      const { driver, clusterId, start, attach, build, keep } = place()
      await driver.check()
      const kept = await keep(['cp', '/etc/one', '/cache/a'])
      const [id, volume] = [await start(['sleep', '600']), await attach()]
      await subject.breakOff()
      const asked: Array<() => Promise<unknown>> = [
        () => driver.check(),
        () => start(['true']),
        () => driver.stopContainer(id),
        () => driver.listContainers(),
        () => driver.readOutput(id),
        () => build('RUN true'),
        () => driver.deleteImage(`${subject.registry}/some:v1`),
        () => driver.listImages(),
        () => attach(kept),
        () => driver.snapshotVolume(volume),
        () => driver.detachVolume(volume),
        () => driver.deleteSnapshot(kept),
        () => driver.listVolumes(),
        () => driver.setGitMirror(clusterId, true),
        () => driver.setContainerCache(clusterId, true),
        () => driver.listSharedVolumes(),
      ]
      for (const ask of asked) await expect(ask()).rejects.toThrow(HostedUnavailable)
      await subject.recover()
      expect(await driver.listContainers()).toMatchObject([{ id, exitStatus: null }])
      expect(await driver.listVolumes()).toHaveLength(2)
      await driver.stopContainer(id)
      await driver.detachVolume(volume)
      await driver.deleteSnapshot(kept)
      expect([
        await driver.listContainers(),
        await driver.listVolumes(),
        await driver.listSharedVolumes(),
      ]).toEqual([[], [], []])
    })
  })
