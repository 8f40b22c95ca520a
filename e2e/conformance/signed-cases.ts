// One agent signs steps and another verifies them. If there is a public agent, it is one of the two.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Bench } from './bench.ts'
import { passed, type Case } from './cases.ts'
import type { Build } from './site.ts'

const rejected = { state: 'failed', exit_status: -1, signal_reason: 'signature_rejected' }

export const signedCases: readonly Case[] = [
  {
    name: 'signed: plain step, with variables of the step and of the pipeline',
    async run(bench) {
      const command = 'echo "region $$REGION, zone $$ZONE"'
      const build = await uploadSigned(bench, [{ key: 'two', command, env: { ZONE: 7 } }])
      expect(await passed(bench, build, 'two')).toContain('region north <1>, zone 7')
    },
  },
  {
    name: 'signed: matrix with adjustments',
    async run(bench) {
      const build = await uploadSigned(bench, [
        {
          command: 'echo "on {{matrix.os}} {{matrix.node}}"; exit {{matrix.node}}',
          label: '{{matrix.os}} {{matrix.node}}',
          env: { SYSTEM: '{{matrix.os}}' },
          matrix: {
            setup: { os: ['linux', 'mac'], node: [0, 1] },
            adjustments: [
              { with: { os: 'mac', node: 1 }, skip: true },
              { with: { os: 'linux', node: 1 }, soft_fail: [{ exit_status: 1 }] },
              { with: { os: 'plan9', node: 0 } },
            ],
          },
        },
      ])
      const ended = async () =>
        ['passed', 'failed'].includes(String((await bench.site.get(build.path)).state))
      await bench.site.until('the matrix has run', ended)
      const jobs = Object.values((await bench.site.get(build.path)).jobs ?? {})
      const ends = jobs
        .slice(1)
        .map((job) => `${String(job.name)}: ${String(job.state)} ${String(job.exit_status)}`)
      expect(ends.toSorted()).toEqual([
        'linux 0: passed 0',
        'linux 1: failed 1',
        'mac 0: passed 0',
        'mac 1: broken null',
        'plan9 0: passed 0',
      ])
    },
  },
  {
    name: 'signed: plugin',
    async run(bench) {
      const source = aPlugin(bench)
      const plugins = [{ [source]: { greeting: 'good day', options: { b: 1.5, a: [true, 'x'] } } }]
      const build = await uploadSigned(bench, [{ key: 'two', command: 'echo "said $$SAID"', plugins }])
      expect(await passed(bench, build, 'two')).toContain('said good day')
    },
  },
  {
    name: 'signed: secrets',
    async run(bench) {
      await bench.secret('signed_one', 'hunter-2222')
      await bench.secret('signed_two', 'hunter-3333')
      const build = await uploadSigned(bench, [
        {
          key: 'two',
          command: 'printenv ZED ALPHA | tr 23 45',
          secrets: { ZED: 'signed_one', ALPHA: 'signed_two' },
        },
      ])
      expect(await passed(bench, build, 'two')).toMatch(/hunter-4444\s+hunter-5555/)
    },
  },
  {
    name: 'signed: steps of a group',
    async run(bench) {
      const inner = {
        key: 'two',
        commands: ['echo in""side', 'echo and more'],
        soft_fail: [{ exit_status: 1 }],
      }
      const build = await uploadSigned(bench, [{ group: 'the group', steps: [inner] }])
      expect(await passed(bench, build, 'two')).toContain('inside')
    },
  },
  {
    name: 'signed: tampered, unsigned, and signed for an agent without a key',
    async run(bench) {
      const tampered = [
        { key: 'two', command: 'echo honest' },
        { key: 'three', command: 'true', env: { ZONE: 'honest' } },
        { key: 'four', command: 'echo {{matrix}}', matrix: ['honest'] },
        { key: 'five', command: 'true', plugins: [{ [aPlugin(bench)]: { greeting: 'honest' } }] },
      ]
      const build = await uploadSigned(bench, tampered, (command) => {
        const withoutKey = 'env -u BUILDKITE_AGENT_JWKS_FILE -u BUILDKITE_AGENT_JWKS_KEY_ID'
        return `${command} --dry-run --format json | sed s/honest/evil/ | ${withoutKey} buildkite-agent pipeline upload`
      })
      for (const { key } of tampered) expect(await bench.site.ended(build, key)).toMatchObject(rejected)

      const { signer, verifier } = await bench.signing()
      const unsigned = await bench.build([{ key: 'one', command: 'true' }], verifier)
      expect(await bench.site.ended(unsigned, 'one')).toMatchObject(rejected)

      const keyless = await bench.start('keyless')
      const step = { key: 'two', command: 'true', agents: { queue: keyless.queue } }
      const signed = await bench.build([{ key: 'one', command: uploadOf([step]) }], signer)
      expect(await bench.site.ended(signed, 'two')).toMatchObject(rejected)
    },
  },
]

/** The signing agent uploads the steps for the verifying one. */
async function uploadSigned(
  bench: Bench,
  steps: readonly object[],
  change: (command: string) => string = (command) => command,
): Promise<Build> {
  const { signer, verifier } = await bench.signing()
  const command = change(uploadOf(steps, verifier.queue))
  const build = await bench.build([{ key: 'one', command }], signer)
  await passed(bench, build, 'one')
  return build
}

function uploadOf(steps: readonly object[], queue?: string): string {
  const agents = queue === undefined ? {} : { agents: { queue } }
  const pipeline = JSON.stringify({ ...agents, env: { REGION: 'north <1>' }, steps })
  return `printf %s '${pipeline}' | buildkite-agent pipeline upload`
}

/** A repository with one hook, which prints the plugin's setting. */
function aPlugin(bench: Bench): string {
  const folder = join(bench.site.aFolder(), 'greeter-buildkite-plugin')
  mkdirSync(join(folder, 'hooks'), { recursive: true })
  const hook = '#!/bin/bash\nexport SAID="$BUILDKITE_PLUGIN_GREETER_GREETING"\n'
  writeFileSync(join(folder, 'hooks', 'environment'), hook, { mode: 0o755 })
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...words], { cwd: folder })
  git('init', '--quiet', '--initial-branch=main')
  git('add', '.')
  git('commit', '--quiet', '-m', 'A plugin')
  return `file://${folder}#main`
}
