// Connects jobs to their local build: a program buildkite-agent in a folder of their PATH, and a socket beside it that
// only this user can open.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { packageFolder } from '../../package-folder.ts'

export interface AgentCall {
  args: string[]
  cwd: string
  env: Record<string, string>
  /** Standard input is a pipe or a file. */
  hasInput: boolean
}

export interface AgentAnswer {
  stdout: string
  stderr: string
  status: number
}

/** `readInput` reads standard input of the call. Call it only if needed: another program may be meant to read it. */
export type AnswerAgent = (call: AgentCall, readInput: () => Promise<Buffer>) => Promise<AgentAnswer>

const PROGRAM = join(packageFolder, 'bin', 'buildkite-agent.js')

/** Put the folder in front of every job's PATH. */
export async function openAgentSocket(folder: string, answer: AnswerAgent): Promise<{ close: () => void }> {
  const path = join(folder, 'socket')
  const connections = new Set<Socket>()
  const server = createServer((socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
    // The caller was killed, or sent invalid data.
    socket.on('error', () => socket.destroy())
    converse(socket, answer).catch(() => socket.destroy())
  })
  server.listen(path)
  await once(server, 'listening')
  const words = [process.execPath, PROGRAM, path].map(quote).join(' ')
  writeFileSync(join(folder, 'buildkite-agent'), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o700 })
  return {
    close() {
      server.close()
      for (const socket of connections) socket.destroy()
    },
  }
}

async function converse(socket: Socket, answer: AnswerAgent): Promise<void> {
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
  const receive = async (): Promise<string | null> => {
    const { value, done } = await lines.next()
    return done ? null : value
  }
  const send = (message: object): void => void socket.write(`${JSON.stringify(message)}\n`)
  const line = await receive()
  if (line === null) return
  const call = JSON.parse(line) as AgentCall
  const readInput = async (): Promise<Buffer> => {
    send({ wantsInput: true })
    const { input } = JSON.parse((await receive()) ?? '{"input":""}') as { input: string }
    return Buffer.from(input, 'base64')
  }
  send(await answer(call, readInput))
}

function quote(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}
