// One process keeps the container engines of a test run, and each test file gets one for itself. The file holds an engine
// as long as its connection is open, so an engine is also free again when a worker dies. Engines start on demand.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import Docker from 'dockerode'
import type { TestProject } from 'vitest/node'
import { baseImage, engineNames, startEngine, type EngineName, type RunningEngine } from './engine.ts'
import type { PoolAnswer } from './test-engines.ts'

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'mr-engine-pool-'))
  const pool = new EnginePool()
  const server = createServer((socket) => void pool.serve(socket).catch(() => socket.destroy()))
  server.listen(join(folder, 'pool.sock'))
  await once(server, 'listening')
  project.provide('enginePool', join(folder, 'pool.sock'))
  return async () => {
    server.close()
    await pool.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

class EnginePool {
  private readonly sockets = new Set<Socket>()
  private readonly leases = new Set<Promise<void>>()
  private readonly free: RunningEngine[] = []
  /** Why an engine does not start. It is tried only once. */
  private readonly lacks = new Map<EngineName, string>()

  async serve(socket: Socket): Promise<void> {
    this.sockets.add(socket)
    socket.on('error', () => {})
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
    for await (const line of createInterface({ input: socket })) {
      const name = engineNames.find((one) => one === line)
      if (name === undefined) break
      const lease = this.lease(name, socket, closed)
      this.leases.add(lease)
      await lease
      this.leases.delete(lease)
      break
    }
    this.sockets.delete(socket)
    socket.destroy()
  }

  private async lease(name: EngineName, socket: Socket, closed: Promise<void>): Promise<void> {
    const engine = await this.take(name)
    const answer: PoolAnswer = engine === null ? { lacks: this.lacks.get(name) ?? '' } : placeOf(engine)
    socket.write(`${JSON.stringify(answer)}\n`)
    if (engine === null) return
    await closed
    await clear(engine).then(
      () => this.free.push(engine),
      () => engine.stop(),
    )
  }

  private async take(name: EngineName): Promise<RunningEngine | null> {
    if (this.lacks.has(name)) return null
    const at = this.free.findIndex((engine) => engine.name === name)
    if (at !== -1) return this.free.splice(at, 1)[0] ?? null
    return startEngine(name).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      this.lacks.set(name, reason.replaceAll(/\s+/g, ' ').trim())
      return null
    })
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy()
    await Promise.all(this.leases)
    await Promise.all(this.free.map((engine) => engine.stop()))
  }
}

const placeOf = ({ name, socketPath, hostAddress, networkName }: RunningEngine): PoolAnswer => ({
  name,
  socketPath,
  hostAddress,
  networkName,
})

/** Restores the initial state for the next test file. */
async function clear({ socketPath }: RunningEngine): Promise<void> {
  const docker = new Docker({ socketPath })
  for (const { Id } of await docker.listContainers({ all: true })) {
    await docker.getContainer(Id).remove({ force: true, v: true })
  }
  const { Volumes } = await docker.listVolumes()
  for (const { Name } of Volumes ?? []) await docker.getVolume(Name).remove()
  for (const { Name, Labels } of await docker.listNetworks()) {
    if (Object.keys(Labels ?? {}).length > 0) await docker.getNetwork(Name).remove()
  }
  for (const { Id, RepoTags } of await docker.listImages()) {
    if (!RepoTags?.includes(baseImage)) await docker.getImage(Id).remove({ force: true })
  }
}
