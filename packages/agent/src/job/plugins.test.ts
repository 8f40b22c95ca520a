import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aFolder, anAgent } from '../../test/agent.ts'
import { pluginFolder, pluginName, pluginVariables, readPlugins } from './plugins.ts'

function git(folder: string, ...args: string[]): string {
  const who = ['-c', 'user.name=T', '-c', 'user.email=t@example.com', '-c', 'init.defaultBranch=main']
  return execFileSync('git', [...who, ...args], { cwd: folder, stdio: 'pipe' })
    .toString()
    .trim()
}

describe('readPlugins', () => {
  it('reads names, versions and settings, with the short names written out', () => {
    const json = JSON.stringify([{ 'docker#v1.2': { image: 'node' } }, 'acme/tool#v2', { './local': null }])
    const plugins = readPlugins(json)
    expect(plugins.map(({ source, version }) => `${source} ${version}`)).toEqual([
      'github.com/buildkite-plugins/docker-buildkite-plugin v1.2',
      'github.com/acme/tool-buildkite-plugin v2',
      './local ',
    ])
    expect(plugins.map(pluginName)).toEqual(['docker', 'tool', 'local'])
  })

  it('refuses what is no list of plugins', () => {
    expect(() => readPlugins('{')).toThrow('no JSON')
    expect(() => readPlugins('{"a": 1}')).toThrow('no list')
  })
})

describe('pluginVariables', () => {
  it('spreads the settings over variables', () => {
    const config = { image: 'node', 'with-cache': true, tags: ['a', { b: 1 }], none: null }
    expect(pluginVariables({ source: 'docker-compose', version: '', config })).toEqual({
      BUILDKITE_PLUGIN_NAME: 'DOCKER_COMPOSE',
      BUILDKITE_PLUGIN_CONFIGURATION: JSON.stringify(config),
      BUILDKITE_PLUGIN_DOCKER_COMPOSE_IMAGE: 'node',
      BUILDKITE_PLUGIN_DOCKER_COMPOSE_WITH_CACHE: 'true',
      BUILDKITE_PLUGIN_DOCKER_COMPOSE_TAGS_0: 'a',
      BUILDKITE_PLUGIN_DOCKER_COMPOSE_TAGS_1_B: '1',
    })
  })
})

describe('abuse case R12: pluginFolder', () => {
  it('is another one for every address and version, however alike they look', () => {
    const sources = [
      'github.com/a/b',
      'github.com/a-b',
      'github.com-a-b',
      'github.com/a/b#',
      'GitHub.com/a/b',
    ]
    const folders = sources.flatMap((source) =>
      ['v1', 'v-1', 'v/1'].map((version) => pluginFolder({ source, version })),
    )
    expect(new Set(folders).size).toBe(folders.length)
    for (const folder of folders) expect(folder).toMatch(/^[A-Za-z0-9][A-Za-z0-9.-]+-[0-9a-f]{16}$/)
  })
})

describe('plugins', () => {
  it('are fetched by git at their version, once', async () => {
    const source = join(await aFolder(), 'hello-buildkite-plugin')
    await mkdir(join(source, 'hooks'), { recursive: true })
    await writeFile(
      join(source, 'hooks', 'pre-command'),
      'echo "plugin v1 says $BUILDKITE_PLUGIN_HELLO_TEXT"',
    )
    git(source, 'init', '-q')
    git(source, 'add', '.')
    git(source, 'commit', '-qm', 'one')
    git(source, 'tag', 'v1')
    await writeFile(join(source, 'hooks', 'pre-command'), 'echo "plugin v2"')
    git(source, 'commit', '-qam', 'two')
    const { server } = await anAgent()
    const plugins = JSON.stringify([{ [`file://${source}#v1`]: { text: 'hi' } }])
    const id = server.offer({ BUILDKITE_COMMAND: 'true', BUILDKITE_PLUGINS: plugins })
    expect((await server.finished(id)).exit_status).toBe('0')
    expect(server.log(id)).toContain('plugin v1 says hi')
    const again = server.offer({ BUILDKITE_COMMAND: 'true', BUILDKITE_PLUGINS: plugins })
    await server.finished(again)
    expect(server.log(again)).not.toContain('git clone')
  })

  it('of the repository are loaded after the checkout, and their hooks run in order', async () => {
    const { server, folder } = await anAgent()
    for (const name of ['one', 'two']) {
      const hooks = join(folder, 'builds', 'tester', 'acme', 'demo', '.plugins', name, 'hooks')
      await mkdir(hooks, { recursive: true })
      await writeFile(join(hooks, 'environment'), `export FROM_${name.toUpperCase()}=yes`)
      await writeFile(join(hooks, 'pre-command'), `echo "plugin ${name}: $FROM_ONE$FROM_TWO"`)
    }
    const plugins = JSON.stringify([{ './.plugins/one': null }, { './.plugins/two': null }])
    const id = server.offer({ BUILDKITE_COMMAND: 'true', BUILDKITE_PLUGINS: plugins })
    await server.finished(id)
    expect(server.log(id)).toMatch(/plugin one: yesyes\n[^]*plugin two: yesyes/)
  })

  it('cannot come from outside the checkout by a relative path', async () => {
    const { server } = await anAgent()
    const plugins = JSON.stringify([{ './../../elsewhere': null }])
    const id = server.offer({ BUILDKITE_COMMAND: 'true', BUILDKITE_PLUGINS: plugins })
    expect((await server.finished(id)).exit_status).toBe('1')
    expect(server.log(id)).toContain('lies outside the checkout')
  })
})
