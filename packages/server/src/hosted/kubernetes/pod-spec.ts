import type {
  V1Container,
  V1Pod,
  V1PodSpec,
  V1SecurityContext,
  V1Volume,
  V1VolumeMount,
} from '@kubernetes/client-node'
import { runnerPath, type Container } from '../driver.ts'
import { labels } from '../labels.ts'
import type { Cluster } from './cluster.ts'

/** Ends the pods of an installation that no longer exists. All other pods end earlier. */
const mostSeconds = 24 * 60 * 60

export const jobContainer = 'job'
const runnerContainer = 'runner'

export const podName = (id: string): string => `millrace-${id}`

export interface PodParts {
  image: string
  /** Always ask the registry, because the node may have the image from another tenant's pod. */
  alwaysPull: boolean
  claims: readonly string[]
  /** The image to copy the runner from; null: no runner is used, or the image contains it. */
  runnerImage: string | null
}

export function describePod(
  cluster: Cluster,
  container: Container,
  { image, alwaysPull, claims, runnerImage }: PodParts,
): V1Pod {
  const { id, clusterId, limits, mounts } = container
  const resources = { cpu: String(limits.cpus), memory: `${limits.memoryMb}Mi` }
  const common = { securityContext, resources: { limits: resources, requests: resources } }
  const volumes: V1Volume[] = claims.map((claimName, index) => ({
    name: `volume-${index}`,
    persistentVolumeClaim: { claimName },
  }))
  const volumeMounts: V1VolumeMount[] = mounts.map((mount, index) => ({
    name: `volume-${index}`,
    mountPath: mount.path,
    readOnly: mount.kind !== 'volume' && mount.readOnly,
  }))
  const { runner, runtimeClass } = cluster.settings
  // Pods have no process limit, so the runner sets it.
  const ownLimits = runner === null ? {} : { MILLRACE_RUNNER_PROCESSES: String(limits.processes) }
  const initContainers: V1Container[] = []
  if (runner !== null && runnerImage !== null) {
    volumes.push({ name: runnerContainer, emptyDir: {} })
    volumeMounts.push({ name: runnerContainer, mountPath: runnerPath, readOnly: true })
    initContainers.push({
      ...common,
      name: runnerContainer,
      image: runnerImage,
      command: [...runner.node, '-e', `fs.cpSync('${runnerPath}', '/to', { recursive: true })`],
      volumeMounts: [{ name: runnerContainer, mountPath: '/to' }],
    })
  }
  return {
    metadata: { name: podName(id), labels: labels(cluster, 'container', clusterId, id) },
    spec: {
      ...isolated,
      ...pullSecrets(cluster),
      ...(runtimeClass === null ? {} : { runtimeClassName: runtimeClass }),
      activeDeadlineSeconds: mostSeconds,
      terminationGracePeriodSeconds: 1,
      volumes,
      initContainers,
      containers: [
        {
          ...common,
          name: jobContainer,
          image,
          imagePullPolicy: alwaysPull ? 'Always' : 'IfNotPresent',
          command: container.command.map(escapeDollars),
          env: Object.entries({ ...container.environment, ...ownLimits }).map(([name, value]) => ({
            name,
            value: escapeDollars(value),
          })),
          volumeMounts,
        },
      ],
    },
  }
}

/** No service account, no addresses of services, no namespaces of the node. */
export const isolated = {
  restartPolicy: 'Never',
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  hostNetwork: false,
  hostPID: false,
  hostIPC: false,
} as const

export const pullSecrets = ({ settings: { registrySecret } }: Cluster): Pick<V1PodSpec, 'imagePullSecrets'> =>
  registrySecret === null ? {} : { imagePullSecrets: [{ name: registrySecret }] }

/** Root, which package managers need, with Docker's default capabilities except raw packets, devices and audit. */
export const securityContext: V1SecurityContext = {
  runAsUser: 0,
  privileged: false,
  allowPrivilegeEscalation: false,
  seccompProfile: { type: 'RuntimeDefault' },
  capabilities: {
    drop: ['ALL'],
    add: [
      'CHOWN',
      'DAC_OVERRIDE',
      'FOWNER',
      'FSETID',
      'KILL',
      'NET_BIND_SERVICE',
      'SETFCAP',
      'SETGID',
      'SETPCAP',
      'SETUID',
      'SYS_CHROOT',
    ],
  },
}

/** Kubernetes expands `$(NAME)` and reads `$$` as `$`. */
const escapeDollars = (text: string) => text.replaceAll('$', () => '$$')
