import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'

const root = join(import.meta.dirname, '..', '..')
const site = join(import.meta.dirname, 'dist', 'site')

/** Sets the theme before the first paint. The policy of the pages allows no inline script, so it is a file of its own. */
const themeScript: Plugin = {
  name: 'theme-script',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    handler(_html, { bundle }) {
      const file = Object.values(bundle ?? {}).find(({ fileName }) => fileName.startsWith('assets/theme-'))
      if (file === undefined) throw new Error('The theme script is not in the bundle.')
      return [{ tag: 'script', attrs: { src: `/${file.fileName}` }, injectTo: 'head-prepend' }]
    },
  },
  buildStart() {
    const source = readFileSync(join(import.meta.dirname, 'theme.js'), 'utf8')
    this.emitFile({ type: 'asset', name: 'theme.js', source })
  },
}

/** Browsers order layers by their first mention, and any of the style sheets may be read first. */
const layerOrder: Plugin = {
  name: 'layer-order',
  apply: 'build',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type !== 'asset' || !file.fileName.endsWith('.css')) continue
      const text = typeof file.source === 'string' ? file.source : new TextDecoder().decode(file.source)
      file.source = `@layer tokens,base,parts;${text}`
    }
  },
}

/** The server sends these files as they are. */
const compressed: Plugin = {
  name: 'compressed',
  apply: 'build',
  async closeBundle() {
    for (const name of await readdir(join(site, 'assets'))) {
      if (!/\.(js|css|svg)$/.test(name)) continue
      const path = join(site, 'assets', name)
      const bytes = await readFile(path)
      await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes))
      await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }))
    }
  },
}

const bundledFiles = new Set<string>()

/** Lists the files in the bundles. tools/pack.mjs finds the licenses of the libraries by them. */
const listFiles: Plugin = {
  name: 'list-files',
  apply: 'build',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type !== 'chunk') continue
      for (const id of file.moduleIds) bundledFiles.add(relative(root, id))
    }
  },
  async closeBundle() {
    // The bundles of workers are ready before the site's folder exists.
    await mkdir(site, { recursive: true })
    await writeFile(join(site, '..', 'bundled-files.json'), JSON.stringify([...bundledFiles].sort(), null, 2))
  },
}

/** Small parts that the first page and most others have: one file of them is smaller than ten. */
const onFirstPage =
  /web\/src\/(parts\/(Button|Icon|keys|mark\/|state-badge\/[Ss]tate|time\/|rows\/)|api\/(listeners|call|live|event-stream))/

export default defineConfig({
  root: import.meta.dirname,
  plugins: [themeScript, layerOrder, compressed, listFiles],
  css: { modules: { localsConvention: 'camelCaseOnly' } },
  build: {
    outDir: site,
    emptyOutDir: true,
    target: 'es2023',
    // Data URLs and injected polyfill scripts are against the policy of the pages.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    chunkSizeWarningLimit: 400,
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'shared', test: onFirstPage }] } } },
  },
  worker: { format: 'es', plugins: () => [listFiles] },
})
