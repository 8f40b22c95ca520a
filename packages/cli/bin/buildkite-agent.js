#!/usr/bin/env node
// The `buildkite-agent` command in jobs of `millrace run`. It forwards its arguments to the process that runs the build, over
// the socket in the first argument, and prints the response.
import { fstatSync } from 'node:fs'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'

const [path, ...args] = process.argv.slice(2)
const socket = connect(path)
const send = (message) => socket.write(`${JSON.stringify(message)}\n`)

// Until there is a response.
process.exitCode = 1
socket.on('error', () => console.error('The build that this job belongs to does not answer.'))
send({ args, cwd: process.cwd(), env: process.env, hasInput: hasInput() })
for await (const line of createInterface({ input: socket })) {
  const { wantsInput, stdout, stderr, status } = JSON.parse(line)
  if (wantsInput) {
    send({ input: await readInput() })
    continue
  }
  process.stderr.write(stderr)
  process.stdout.write(stdout)
  process.exitCode = status
  socket.end()
}

// With a terminal or /dev/null as standard input, there is no input.
function hasInput() {
  try {
    return !fstatSync(0).isCharacterDevice()
  } catch {
    return false
  }
}

async function readInput() {
  const chunks = []
  for await (const chunk of process.stdin) chunks.push(chunk)
  return Buffer.concat(chunks).toString('base64')
}
