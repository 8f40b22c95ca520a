import { resolve } from 'node:path'
import { askAgent } from '../job-api.ts'
import { argument } from '../verb.ts'
import type { Verb } from '../verb.ts'

const set: Verb = {
  name: 'workdir set',
  usage: '<folder>',
  summary: 'Change the working directory of the hooks and the command that come after this.',
  flags: {},
  async run(call) {
    const path = resolve(call.io.cwd, argument(call, 0, 'folder'))
    const { workdir } = await askAgent(call.io, 'PATCH', '/workdir', { workdir: path })
    call.io.print(`${String(workdir)}\n`)
  },
}

export const workdirVerbs = [set]
