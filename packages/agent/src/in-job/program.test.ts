import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anAgent, aCounterpart, anAgentFor } from '../../test/agent.ts'

describe('buildkite-agent in the PATH of a job', () => {
  it('reaches the server with the token of the job', async () => {
    const { server } = await anAgent()
    const id = server.offer({ BUILDKITE_COMMAND: 'echo blue | buildkite-agent meta-data set colour' })
    expect((await server.finished(id)).exit_status).toBe('0')
    const [set] = server.find(/data\/set$/)
    expect(set?.headers.authorization).toBe(`Token job-token-${id}`)
    expect(JSON.parse(String(set?.body))).toEqual({ key: 'colour', value: 'blue\n' })
  })

  it('changes the environment of what comes after it', async () => {
    const { server, hooks } = await anAgent()
    await writeFile(
      join(hooks, 'pre-command'),
      'buildkite-agent env set GREETING=hello; buildkite-agent env unset DROPPED',
    )
    const command =
      'echo "[$GREETING|${DROPPED-gone}|$(buildkite-agent env get GREETING)]"; buildkite-agent env set BUILDKITE_JOB_ID=x'
    const id = server.offer({ BUILDKITE_COMMAND: command, DROPPED: 'here' })
    expect((await server.finished(id)).exit_status).toBe('1')
    expect(server.log(id)).toContain('[hello|gone|hello]')
    expect(server.log(id)).toContain('BUILDKITE_JOB_ID cannot be changed')
  })

  it('hides what it is given, and secrets before it prints them', async () => {
    const { server } = await anAgent()
    server.answer(/secrets\?key=deploy/, () => ({
      status: 200,
      body: { key: 'deploy', value: 'correct-horse', uuid: 'u' },
    }))
    const command = [
      'echo battery-staple | buildkite-agent redactor add',
      'echo "found: battery-staple $(buildkite-agent secret get deploy)"',
      'buildkite-agent annotate "also here: correct-horse"',
    ].join('\n')
    const id = server.offer({ BUILDKITE_COMMAND: command })
    expect((await server.finished(id)).exit_status).toBe('0')
    expect(server.log(id)).toContain('found: [REDACTED] [REDACTED]\n')
    expect(server.find(/annotations$/)[0]?.body.toString()).toContain('also here: [REDACTED]')
  })

  it('locks out other jobs of the machine', async () => {
    const server = await aCounterpart()
    const { folder } = await anAgentFor(server)
    await anAgentFor(server, { socketsPath: join(folder, 'sockets') })
    const command = [
      'token=$(buildkite-agent lock acquire key)',
      `echo "start $BUILDKITE_JOB_ID" >> ${folder}/order; sleep 0.2; echo "end $BUILDKITE_JOB_ID" >> ${folder}/order`,
      'buildkite-agent lock release key "$token"',
      'if [ "$(buildkite-agent lock do setup)" = do ]; then echo "I do it"; buildkite-agent lock done setup; fi',
      `cat ${folder}/order`,
    ].join('\n')
    const ids = [server.offer({ BUILDKITE_COMMAND: command }), server.offer({ BUILDKITE_COMMAND: command })]
    const reports = await Promise.all(ids.map((id) => server.finished(id)))
    expect(reports.map(({ exit_status: status }) => status)).toEqual(['0', '0'])
    const logs = ids.map((id) => server.log(id))
    expect(logs.filter((log) => log.includes('\nI do it\n'))).toHaveLength(1)
    const order = logs
      .map((log) => log.match(/^(?:start|end) .*$/gm) ?? [])
      .toSorted((a, b) => b.length - a.length)[0]
    expect(order?.map((line) => line.split(' ')[0])).toEqual(['start', 'end', 'start', 'end'])
  })
})
