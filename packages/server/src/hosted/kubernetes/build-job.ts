/*
 * The Kubernetes job that builds an image with BuildKit, in three containers that run one after the other: the first pulls the
 * base image, the second runs the instructions, the third pushes. Users write the instructions, and a rootless BuildKit cannot
 * protect its own files from them. So the second container has no credentials and has ended before the third starts. They
 * pass images on as files.
 */
import type { V1Container, V1Job } from '@kubernetes/client-node'
import { HostedRefused, type ImageBuild } from '../driver.ts'
import { labels } from '../labels.ts'
import type { Cluster } from './cluster.ts'
import { shortHash } from './image-records.ts'
import { isolated, pullSecrets } from './pod-spec.ts'

export const buildSteps = ['base', 'build', 'push'] as const
export type BuildStep = (typeof buildSteps)[number]

export const buildName = (ref: string): string => `millrace-build-${shortHash(ref)}`

/** The annotation that holds a step's Dockerfile. */
const dockerfileOf = (step: BuildStep): string => `millrace.dockerfile-${step}`

/** Kubernetes limits the annotations of an object to 256 KiB. */
const mostDockerfileBytes = 250_000
/** How long Kubernetes retains a finished job, for people who look into a failure. */
const keptSeconds = 600
const user = 1000

export function describeBuild(cluster: Cluster, build: ImageBuild): V1Job {
  const { clusterId, ref } = build
  const marks = labels(cluster, 'build', clusterId, shortHash(ref))
  const { base, instructions } = split(build.dockerfile)
  const dockerfiles: Record<BuildStep, string> = {
    base: `FROM ${base}\n`,
    build: `FROM base\n${instructions}`,
    push: 'FROM built\n',
  }
  const annotations = Object.fromEntries(
    buildSteps.map((step) => [dockerfileOf(step), dockerfiles[step]] as const),
  )
  const { registrySecret, buildSeconds } = cluster.settings
  const container = (step: BuildStep) => describeStep(cluster, ref, step)
  return {
    metadata: { name: buildName(ref), labels: marks },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: buildSeconds,
      ttlSecondsAfterFinished: keptSeconds,
      template: {
        metadata: { labels: marks, annotations },
        spec: {
          ...isolated,
          ...pullSecrets(cluster),
          terminationGracePeriodSeconds: 1,
          securityContext: { runAsUser: user, runAsGroup: user, fsGroup: user },
          initContainers: [container('base'), container('build')],
          containers: [container('push')],
          volumes: [
            { name: 'images', emptyDir: {} },
            ...buildSteps.map((step) => ({ name: `state-${step}`, emptyDir: {} })),
            {
              name: 'dockerfiles',
              downwardAPI: {
                items: buildSteps.map((step) => ({
                  path: step,
                  fieldRef: { fieldPath: `metadata.annotations['${dockerfileOf(step)}']` },
                })),
              },
            },
            ...(registrySecret === null
              ? []
              : [
                  {
                    name: 'credentials',
                    secret: {
                      secretName: registrySecret,
                      items: [{ key: '.dockerconfigjson', path: 'config.json' }],
                    },
                  },
                ]),
          ],
        },
      },
    },
  }
}

function split(dockerfile: string): { base: string; instructions: string } {
  const [line = ''] = dockerfile.split('\n', 1)
  const [, base] = /^FROM (\S+)\s*$/.exec(line) ?? []
  if (base === undefined) throw new HostedRefused(`"${line}" does not name a base image.`)
  if (Buffer.byteLength(dockerfile) > mostDockerfileBytes) {
    throw new HostedRefused(`The instructions may not have more than ${mostDockerfileBytes} bytes.`)
  }
  return { base, instructions: dockerfile.slice(line.length + 1) }
}

function describeStep({ registry, settings }: Cluster, ref: string, step: BuildStep): V1Container {
  const { registrySecret, buildkitImage } = settings
  const hasCredentials = registrySecret !== null && step !== 'build'
  const flags = registry.isInsecure ? ' --config /tmp/buildkitd.toml' : ''
  return {
    name: step,
    image: buildkitImage,
    command: ['sh', '-c', scripts[step]],
    env: [
      { name: 'BUILDKITD_FLAGS', value: `--oci-worker-no-process-sandbox${flags}` },
      { name: 'REF', value: ref },
      { name: 'REGISTRY', value: registry.isInsecure ? registry.host : '' },
      { name: 'DOCKER_CONFIG', value: '/credentials' },
    ],
    resources: {
      requests: { cpu: '500m', memory: '1Gi' },
      limits: { cpu: '2', memory: '4Gi' },
    },
    // A rootless BuildKit needs these to create nested containers.
    securityContext: {
      privileged: false,
      seccompProfile: { type: 'Unconfined' },
      appArmorProfile: { type: 'Unconfined' },
    },
    volumeMounts: [
      { name: 'images', mountPath: '/images' },
      { name: `state-${step}`, mountPath: '/home/user/.local/share/buildkit' },
      { name: 'dockerfiles', mountPath: '/dockerfiles', readOnly: true },
      ...(hasCredentials ? [{ name: 'credentials', mountPath: '/credentials', readOnly: true }] : []),
    ],
  }
}

const prepare = (step: BuildStep) => `set -eu
mkdir /tmp/context
cat /dockerfiles/${step} > /tmp/context/Dockerfile
if [ -n "$REGISTRY" ]; then printf '[registry."%s"]\\nhttp = true\\n' "$REGISTRY" > /tmp/buildkitd.toml; fi
build() {
  buildctl-daemonless.sh build --progress plain --frontend dockerfile.v0 \\
    --local context=/tmp/context --local dockerfile=/tmp/context "$@"
}
digest() { grep -o 'sha256:[0-9a-f]*' "/images/$1/index.json" | head -n 1; }
`

const scripts: Record<BuildStep, string> = {
  base: `${prepare('base')}build --output type=oci,tar=false,dest=/images/base`,
  build: `${prepare('build')}build --oci-layout base=/images/base --opt "context:base=oci-layout://base@$(digest base)" \\
  --output type=oci,tar=false,dest=/images/built`,
  push: `${prepare('push')}build --oci-layout built=/images/built --opt "context:built=oci-layout://built@$(digest built)" \\
  --output "type=image,name=$REF,push=true" --metadata-file /tmp/metadata.json
grep -o '"containerimage.digest": *"sha256:[0-9a-f]*"' /tmp/metadata.json | grep -o 'sha256:[0-9a-f]*' > /dev/termination-log`,
}
