import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import type { Command } from 'commander'
import { command, HELP_GROUPS, notBlank, print, type Output } from '../command.ts'
import { packageFolder } from '../package-folder.ts'
import { Refused } from '../refused.ts'

export const deployFiles = (): Command =>
  command(
    'deploy-files',
    'Write the files that run Millrace for other people: units for systemd, a Compose file, a Helm chart, proxies.',
    'deploy-files /srv/millrace-deploy',
  )
    .helpGroup(HELP_GROUPS.here)
    .argument('<folder>', 'where to; a file that is there and differs is not replaced', notBlank)
    .action(async (name: string, options: Output) => {
      const folder = resolve(name)
      const files = await findFiles()
      const differing = []
      for (const { path, content } of files) {
        const present = await readFile(join(folder, path)).catch(nullIfMissing)
        if (present !== null && !present.equals(content)) differing.push(path)
      }
      if (differing.length > 0) {
        throw new Refused(
          `Nothing was written, because these files in ${folder} differ: ${differing.join(', ')}. ` +
            'Write into another folder and compare.',
        )
      }
      for (const file of files) await writeInto(folder, file)
      const paths = files.map(({ path }) => path)
      print(
        options,
        { folder, files: paths },
        `Wrote ${paths.length} files into ${folder}. README.md there says what each is for.`,
      )
    })

interface DeployFile {
  path: string
  content: Buffer
  isProgram: boolean
}

/** In the package they are beside the program; in a clone at its top. */
async function findFiles(): Promise<DeployFile[]> {
  const packed = join(packageFolder, 'deploy')
  const clone = dirname(dirname(packageFolder))
  const [folder, dockerfile] = existsSync(packed)
    ? [packed, join(packed, 'Dockerfile')]
    : [join(clone, 'deploy'), join(clone, 'Dockerfile')]
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const found = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  const paths = new Map(found.map((file) => [relative(folder, file), file]))
  paths.set('Dockerfile', dockerfile)
  return Promise.all(
    [...paths]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(async ([path, file]) => ({
        path,
        content: await readFile(file),
        isProgram: path.endsWith('.sh'),
      })),
  )
}

async function writeInto(folder: string, { path, content, isProgram }: DeployFile): Promise<void> {
  const file = join(folder, path)
  await mkdir(dirname(file), { recursive: true }).catch(refuse(folder))
  await writeFile(file, content).catch(refuse(folder))
  if (isProgram) await chmod(file, 0o755)
}

const refuse = (folder: string) => (error: NodeJS.ErrnoException) => {
  throw new Refused(`The files cannot be written into ${folder}: ${error.message}`)
}

const nullIfMissing = (error: NodeJS.ErrnoException): null => {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
  throw new Refused(error.message)
}
