// Tests that need a real engine: limits and isolation of containers, and recovery from requests that are cut off.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import tar from 'tar-stream'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needing } from '../../../../../testbed/src/needing.ts'
import { importImage } from '../../../../../testbed/src/engine.ts'
import { startGate, type Gate } from '../../../../../testbed/src/gate.ts'
import { acquireEngines, type TestEngine } from '../../../../../testbed/src/test-engines.ts'
import { eventually } from '../../../test/eventually.ts'
import { newId } from '../../lib/ids.ts'
import { openDocker } from './driver.ts'
import type { DockerSettings } from './engine.ts'
import { HostedRefused, HostedUnavailable, type Container, type HostedDriver } from '../driver.ts'

const run = promisify(execFile)
const image = 'localhost/millrace-test/tools:1'

const listenForever = [
  'perl',
  '-e',
  'socket(S,2,1,6);bind(S,pack("Sna4x8",2,8000,"\\0\\0\\0\\0"))||die;listen(S,5)||die;' +
    'while(accept(C,S)){syswrite(C,"secret\\n");close(C)}',
]

const dial = (address: string, port: number) => `timeout 5 bash -c 'cat < /dev/tcp/${address}/${port}'`

/** Listens on all addresses in a network namespace of this machine. */
async function listenIn(networkName: string, word: string, port = 0) {
  const program = `require('node:net').createServer((socket) => socket.end('${word}\\n'))
    .listen(${port}, '::', function () { console.log(this.address().port) })`
  const network = `--net=/run/netns/${networkName}`
  const child = spawn('nsenter', [network, '--', process.execPath, '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output] = (await once(child.stdout, 'data')) as [Buffer]
  const end = async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return { port: Number(output), end }
}

/** A metadata service at the address that clouds use, reachable only from the engine's network. */
async function startMetadata(networkName: string) {
  const name = `${networkName}-md`
  const ip = (...given: string[]) => run('ip', given)
  await ip('netns', 'add', name)
  await ip('-n', networkName, 'link', 'add', 'md0', 'type', 'veth', 'peer', 'name', 'md1', 'netns', name)
  await ip('-n', networkName, 'addr', 'add', '169.254.169.253/30', 'dev', 'md0')
  await ip('-n', networkName, 'link', 'set', 'md0', 'up')
  await ip('-n', name, 'addr', 'add', '169.254.169.254/30', 'dev', 'md1')
  await ip('-n', name, 'link', 'set', 'md1', 'up')
  await ip('-n', name, 'route', 'add', 'default', 'via', '169.254.169.253')
  const listener = await listenIn(name, 'metadata', 80)
  return {
    async end() {
      await listener.end()
      await ip('netns', 'del', name)
    },
  }
}

/**
 * Servers to connect to: one outside (this machine, seen from the engine's network), and two listeners and a metadata service
 * on the engine's own machine.
 */
async function surroundings({ hostAddress, networkName }: TestEngine) {
  const world = createServer((socket) => socket.end('world\n'))
  world.listen(0, hostAddress)
  await once(world, 'listening')
  const { port } = world.address() as AddressInfo
  const machine = await listenIn(networkName, 'machine')
  const server = await listenIn(networkName, 'server')
  const metadata = await startMetadata(networkName)
  const end = async () => {
    for (const one of [machine, server, metadata]) await one.end()
    world.close()
  }
  return { world: { port }, machine, server, end }
}

async function addressesIn(networkName: string, family: 'inet' | 'inet6'): Promise<string[]> {
  const { stdout } = await run('ip', ['-n', networkName, '-j', 'addr'])
  const links = JSON.parse(stdout) as Array<{ addr_info: Array<{ family: string; local: string }> }>
  return links
    .flatMap(({ addr_info }) => addr_info)
    .filter((one) => one.family === family && !['127.0.0.1', '::1', '169.254.169.253'].includes(one.local))
    .map(({ local }) => local)
}

for (const { name, lacks, get, release } of await acquireEngines())
  needing('containers', lacks).describe(`hosted containers on ${name}`, () => {
    let engine: TestEngine
    let gate: Gate
    beforeAll(async () => {
      engine = get()
      gate = await startGate(engine.socketPath)
      await importImage(engine.docker, image, ['bash', 'perl', 'timeout'])
    })
    afterAll(async () => {
      await gate.remove()
      release()
    })

    function place(given: Partial<DockerSettings> = {}) {
      const driver = openDocker({
        socketPath: gate.socketPath,
        installationId: newId(),
        registry: 'localhost/millrace',
        helperImage: image,
        allowed: null,
        runner: null,
        ...given,
      })
      const container = (command: string[], more: Partial<Container> = {}): Container => ({
        id: newId(),
        clusterId: newId(),
        image,
        command,
        environment: {},
        limits: { cpus: 1, memoryMb: 64, processes: 20 },
        mounts: [],
        ...more,
      })
      const ended = (id: string) =>
        eventually('the container ends', async () => {
          const found = (await driver.listContainers()).find((one) => one.id === id)
          const exitStatus = found?.exitStatus ?? null
          return exitStatus === null ? undefined : { exitStatus, output: await driver.readOutput(id) }
        })
      const bash = async (script: string, more: Partial<Container> = {}) => {
        const one = container(['bash', '-c', script], more)
        await driver.startContainer(one)
        const end = await ended(one.id)
        await driver.stopContainer(one.id)
        return end
      }
      return { driver, container, ended, bash }
    }

    /** Waits until the engine's machine can connect to the container. Returns the container's address. */
    async function untilListens(container: string): Promise<string> {
      const { NetworkSettings } = await engine.docker.getContainer(container).inspect()
      const [network] = Object.values(NetworkSettings.Networks)
      const address = network?.IPAddress ?? ''
      await eventually('the container listens', async () => {
        const from = [`--net=/run/netns/${engine.networkName}`, '--', 'bash', '-c', dial(address, 8000)]
        const answer = await run('nsenter', from).catch(() => null)
        return answer?.stdout === 'secret\n'
      })
      return address
    }

    /** Counts all objects of the engine. */
    async function count() {
      const [containers, images, { Volumes }] = await Promise.all([
        engine.docker.listContainers({ all: true }),
        engine.docker.listImages({ all: true }),
        engine.docker.listVolumes(),
      ])
      return { containers: containers.length, images: images.length, volumes: Volumes?.length ?? 0 }
    }

    it('have no more memory than their limit', async () => {
      const { bash } = place()
      const script = 'a=x; while true; do a=$a$a; done'
      expect((await bash(script)).exitStatus).not.toBe(0)
      expect(await bash('a=x; for i in {1..20}; do a=$a$a; done; echo ${#a}')).toEqual({
        exitStatus: 0,
        output: '1048576\n',
      })
    })

    it('have no more processes than their limit', async () => {
      const { bash } = place()
      const script = (count: number) =>
        `for i in {1..${count}}; do sleep 3 & done 2>/dev/null; jobs -r > /jobs; mapfile a < /jobs; echo \${#a[@]}`
      expect((await bash(script(10))).output).toBe('10\n')
      const { exitStatus, output } = await bash(script(60))
      expect(exitStatus !== 0 || Number(output) < 20).toBe(true)
    })

    it('have no more processor time than their limit', async () => {
      const { driver, container } = place()
      const one = container(['sleep', '600'], { limits: { cpus: 2, memoryMb: 100, processes: 7 } })
      await driver.startContainer(one)
      const { HostConfig } = await engine.docker.getContainer(`millrace-${one.id}`).inspect()
      const { NanoCpus = 0, CpuQuota = 0, CpuPeriod = 0 } = HostConfig
      expect(NanoCpus > 0 ? NanoCpus / 1e9 : CpuQuota / CpuPeriod).toBe(2)
      expect(HostConfig).toMatchObject({ Privileged: false, Memory: 100 * 1024 * 1024, PidsLimit: 7 })
      await driver.stopContainer(one.id)
    })

    it('see nothing of the machine', async () => {
      const { bash } = place()
      expect((await bash('cd /proc && echo [0-9]*')).output).toMatch(/^1( \d)?\n$/)
      const devices = await bash('for d in sda vda kmsg mem; do test -e /dev/$d && echo $d; done; true')
      expect(devices.output).toBe('')
      expect((await bash('test -S /var/run/docker.sock -o -S /run/docker.sock; echo $?')).output).toBe('1\n')
      expect((await bash('echo x > /proc/sys/kernel/hostname')).exitStatus).not.toBe(0)
      expect((await bash('echo $$ > /proc/1/root/../../proc/sys/vm/drop_caches')).exitStatus).not.toBe(0)
    })

    it('reach the internet, and on the engine’s machine only the allowed addresses', async () => {
      const { world, machine, server, end } = await surroundings(engine)
      const [own = ''] = await addressesIn(engine.networkName, 'inet')

      const open = place()
      expect((await open.bash(dial(own, machine.port))).output).toBe('machine\n')
      expect((await open.bash(dial('169.254.169.254', 80))).output).toBe('metadata\n')

      const fenced = place({ allowed: [`${own}:${server.port}`] })
      expect((await fenced.bash(dial(engine.hostAddress, world.port))).output).toBe('world\n')
      expect((await fenced.bash(dial(own, server.port))).output).toBe('server\n')
      const resting = fenced.container(['sleep', '600'])
      await fenced.driver.startContainer(resting)
      const addresses = [
        ...(await addressesIn(engine.networkName, 'inet')),
        ...(await addressesIn(engine.networkName, 'inet6')).map((address) => `${address}%eth0`),
      ]
      expect(addresses.length).toBeGreaterThan(1)
      const attacks = [
        ...addresses.map((address) => dial(address, machine.port)),
        dial('169.254.169.254', 80),
      ]
      const { output } = await fenced.bash(`${attacks.map((attack) => `${attack} &`).join('\n')}\nwait`, {
        limits: { cpus: 1, memoryMb: 256, processes: 200 },
      })
      expect(output).not.toMatch(/machine\n|metadata\n/)

      // `tidy` restores rules that were flushed.
      const flush = ['iptables', '-t', 'mangle', '-F', 'PREROUTING']
      await run('nsenter', [`--net=/run/netns/${engine.networkName}`, '--', ...flush])
      expect((await fenced.bash(dial(own, machine.port))).output).toBe('machine\n')
      await fenced.driver.tidy()
      expect((await fenced.bash(dial(own, machine.port))).output).not.toContain('machine\n')

      await fenced.driver.stopContainer(resting.id)
      await end()
    })

    it('do not reach each other', async () => {
      const { driver, container, bash } = place({ allowed: [] })
      // On some engines its end deletes the rules of other networks.
      await bash('true')
      const one = container(listenForever)
      await driver.startContainer(one)
      const address = await untilListens(`millrace-${one.id}`)
      const other = await bash(dial(address, 8000))
      expect(other.output).not.toContain('secret')
      expect(other.exitStatus).not.toBe(0)
      await driver.stopContainer(one.id)
    })

    it('reach the same addresses while their images are built', async () => {
      const { world, machine, server, end } = await surroundings(engine)
      const neighbour = await engine.docker.createContainer({ Image: image, Entrypoint: listenForever })
      await neighbour.start()
      const besides = await untilListens(neighbour.id)
      const [own = ''] = await addressesIn(engine.networkName, 'inet')
      const build = async (
        driver: HostedDriver,
        wanted: readonly string[],
        attacks: readonly string[] = [],
      ) => {
        let log = ''
        const [clusterId, ref] = [newId(), `localhost/millrace/${newId()}:v1`]
        const attack = `${attacks.map((one) => `${one} &`).join(' ')} wait; echo all were tried`
        const dockerfile = [`FROM ${image}`, ...[...wanted, attack].map((script) => `RUN ${script}`)].join(
          '\n',
        )
        const onLog = (text: string) => void (log += text)
        await driver.buildImage({
          clusterId,
          ref,
          dockerfile,
          limits: [],
          onLog,
          signal: new AbortController().signal,
        })
        await driver.deleteImage(ref)
        expect(log).toContain('all were tried\n')
        return log.match(/^(world|server|machine|metadata|secret)$/gm)?.toSorted() ?? []
      }
      const networks = async () => (await engine.docker.listNetworks()).length
      const before = { ...(await count()), networks: await networks() }

      expect(await build(place().driver, [dial(own, machine.port)])).toEqual(['machine'])
      const fenced = place({ allowed: [`${own}:${server.port}`] })
      const addresses = ['127.0.0.1', '::1', ...(await addressesIn(engine.networkName, 'inet'))]
      const wanted = [dial(engine.hostAddress, world.port), dial(own, server.port)]
      const reached = await build(fenced.driver, wanted, [
        ...addresses.map((address) => dial(address, machine.port)),
        dial('169.254.169.254', 80),
        dial(besides, 8000),
      ])
      expect(reached).toEqual(['server', 'world'])
      expect({ ...(await count()), networks: await networks() }).toEqual(before)

      await neighbour.remove({ force: true })
      await end()
    })

    it('limit the instructions of their images to the largest shape that fits the machine', async () => {
      const { driver } = place({ allowed: [] })
      const build = (script: string) =>
        driver.buildImage({
          clusterId: newId(),
          ref: `localhost/millrace/${newId()}:v1`,
          dockerfile: `FROM ${image}\nRUN ${script}`,
          limits: [
            { cpus: 1, memoryMb: 64, processes: 100 },
            { cpus: 9999, memoryMb: 2 ** 30, processes: 100 },
          ],
          onLog: () => {},
          signal: new AbortController().signal,
        })
      await build('a=x; for i in {1..20}; do a=$a$a; done; echo ${#a}')
      await expect(build('a=x; while true; do a=$a$a; done')).rejects.toThrow(HostedRefused)
    })

    it('have the runner, which is written once and is read-only', async () => {
      let archives = 0
      const runner = {
        digest: 'abc123',
        archive() {
          archives++
          const pack = tar.pack()
          pack.entry({ name: 'hello', mode: 0o755 }, '#!/bin/bash\necho hello from the runner\n')
          pack.finalize()
          return Readable.from(pack)
        },
        node: [],
      }
      const before = await count()
      const { driver, bash } = place({ runner })
      expect(await bash('/opt/millrace/hello')).toEqual({
        exitStatus: 0,
        output: 'hello from the runner\n',
      })
      expect((await bash('echo x > /opt/millrace/hello')).exitStatus).not.toBe(0)
      expect(archives).toBe(1)
      await driver.tidy()
      expect((await bash('/opt/millrace/hello')).exitStatus).toBe(0)
      expect(archives).toBe(1)
      expect((await count()).volumes).toBe(before.volumes + 2)
    })

    it('have a complete runner, also when many start at once before it is written', async () => {
      const content = 'x'.repeat(8_000_000)
      const runner = {
        digest: 'def456',
        archive() {
          const pack = tar.pack()
          pack.entry({ name: 'large' }, content)
          pack.finalize()
          return Readable.from(pack)
        },
        node: [],
      }
      const installationId = newId()
      const before = await count()
      const processes = [place({ runner, installationId }), place({ runner, installationId })]
      const script = 'read -r all < /opt/millrace/large; echo ${#all}'
      const limits = { cpus: 1, memoryMb: 256, processes: 20 }
      const ends = await Promise.all([...processes, ...processes].map(({ bash }) => bash(script, { limits })))
      expect(ends.map(({ output }) => output)).toEqual(ends.map(() => `${content.length}\n`))
      expect((await count()).volumes).toBe(before.volumes + 2)
    })

    it('are unavailable while the engine hangs, and work again afterwards', async () => {
      const { driver, container } = place({ answerSeconds: 1 })
      gate.hush()
      const one = container(['sleep', '600'])
      await expect(driver.startContainer(one)).rejects.toThrow(HostedUnavailable)
      await expect(driver.listImages()).rejects.toThrow(HostedUnavailable)
      await gate.open()
      const patient = place()
      expect(await patient.driver.listContainers()).toEqual([])
    })

    it('are started and stopped once, wherever a request is cut off', async () => {
      const { driver, container } = place()
      const before = await count()
      for (let requests = 0; requests < 20; requests++) {
        const one = container(['sleep', '600'])
        gate.cutAfter(requests)
        const isCut = await driver.startContainer(one).then(
          () => false,
          (error: unknown) => {
            expect(error).toBeInstanceOf(HostedUnavailable)
            return true
          },
        )
        await gate.open()
        await driver.startContainer(one)
        expect(await driver.listContainers()).toMatchObject([{ id: one.id, exitStatus: null }])
        gate.cutAfter(requests)
        await driver.stopContainer(one.id).catch(() => {})
        await gate.open()
        await driver.stopContainer(one.id)
        expect(await driver.listContainers()).toEqual([])
        if (!isCut) break
      }
      expect(await count()).toEqual(before)
    })

    it('have complete volumes, wherever a request is cut off', async () => {
      const { driver, bash } = place()
      const before = await count()
      const clusterId = newId()
      const first = `vol-${newId()}`
      const mounted = (id: string) => ({ mounts: [{ kind: 'volume', id, path: '/cache' } as const] })
      await driver.attachVolume({ id: first, clusterId, from: null, sizeMb: 1 })
      await bash('echo one > /cache/a', mounted(first))
      await driver.snapshotVolume(first)
      await driver.detachVolume(first)
      for (let requests = 0; requests < 30; requests++) {
        const id = `vol-${newId()}`
        let isCut = false
        const insist = async (work: () => Promise<unknown>) => {
          gate.cutAfter(requests)
          await work().catch(() => {
            isCut = true
          })
          await gate.open()
          await work()
        }
        await insist(() => driver.attachVolume({ id, clusterId, from: first, sizeMb: 1 }))
        await bash('echo two > /cache/b', mounted(id))
        await insist(() => driver.snapshotVolume(id))
        await insist(() => driver.detachVolume(id))
        const copy = `vol-${newId()}`
        await driver.attachVolume({ id: copy, clusterId, from: id, sizeMb: 1 })
        expect((await bash('cat /cache/a /cache/b', mounted(copy))).output).toBe('one\ntwo\n')
        await insist(() => driver.detachVolume(copy))
        await insist(() => driver.deleteSnapshot(id))
        expect(await driver.listVolumes()).toMatchObject([
          { id: first, isAttached: false, hasSnapshot: true },
        ])
        if (!isCut) break
      }
      await driver.deleteSnapshot(first)
      expect(await count()).toEqual(before)
    })

    it('leave nothing of builds that fail, are aborted or are cut off', async () => {
      const { driver } = place({ allowed: [] })
      const networks = async () => (await engine.docker.listNetworks()).length
      const all = async () => JSON.stringify({ ...(await count()), networks: await networks() })
      const before = await all()
      const refs: string[] = []
      const build = (instructions: string, signal: AbortSignal, onLog: (text: string) => void = () => {}) => {
        const ref = `localhost/millrace/${newId()}:v1`
        refs.push(ref)
        const dockerfile = `FROM ${image}\n${instructions}`
        return driver.buildImage({ clusterId: newId(), ref, dockerfile, limits: [], onLog, signal })
      }
      const { signal } = new AbortController()
      await expect(build('RUN echo a > /a\nRUN echo b > /b\nRUN false', signal)).rejects.toThrow(
        HostedRefused,
      )
      const stopping = new AbortController()
      const stop = (text: string) => {
        if (text.includes('sleep 600')) stopping.abort()
      }
      await expect(build('RUN echo c > /c\nRUN sleep 600', stopping.signal, stop)).rejects.toThrow('abort')
      const cut = (text: string) => {
        if (text.includes('sleep 601')) void gate.close()
      }
      await expect(build('RUN echo d > /d\nRUN sleep 601', signal, cut)).rejects.toThrow(HostedUnavailable)
      await gate.open()
      await eventually('the engine has cleaned up', async () => {
        // Remains of a build that was cut off are deleted with its image.
        for (const ref of refs) await driver.deleteImage(ref)
        return (await all()) === before
      })
    })

    if (name !== 'Docker') return

    it('have no here-documents in the instructions of their images', async () => {
      const { driver } = place({ allowed: [] })
      const refused = driver.buildImage({
        clusterId: newId(),
        ref: `localhost/millrace/${newId()}:v1`,
        limits: [],
        dockerfile: `FROM ${image}\nRUN echo $((1<<2)) '<<' && \\\n cat <<-'EOF' > /a\none\nEOF`,
        onLog: () => {},
        signal: new AbortController().signal,
      })
      await expect(refused).rejects.toThrow(HostedRefused)
      await expect(refused).rejects.toThrow("(cat <<-'EOF' > /a)")
    })
  })
