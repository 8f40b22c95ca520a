// Turns the inert document of an annotation or of another rendered text into elements of the page. Only what is listed here
// passes, whatever the server let through.
import { createElement, Fragment, type CSSProperties, type ReactNode } from 'react'
import { showLabel } from '../../../parts/labels.ts'
import { parseInert } from '../../../parts/trusted-types.ts'
import { ArtifactImage } from './ArtifactImage.tsx'
import { resolveArtifact, type ArtifactLinks } from './artifact-links.ts'

const plainTags = new Set(
  (
    'p div span br hr blockquote pre code kbd samp ul ol li dl dt dd details summary b strong i em u s del ins mark ' +
    'small sub sup abbr q var table caption thead tbody tfoot tr th td'
  ).split(' '),
)
const voidTags = new Set(['br', 'hr'])
const attributes: Readonly<Record<string, ReadonlyArray<readonly [from: string, to: string]>>> = {
  abbr: [['title', 'title']],
  details: [['open', 'open']],
  ol: [['start', 'start']],
  td: [
    ['colspan', 'colSpan'],
    ['rowspan', 'rowSpan'],
  ],
  th: [
    ['colspan', 'colSpan'],
    ['rowspan', 'rowSpan'],
  ],
}
/** The page has headings above: those of an annotation begin at the third level. */
const headingsAbove = 2
/** Deeper elements show their text alone. */
const mostDepth = 60

export const renderAnnotation = (html: string, links: ArtifactLinks): ReactNode =>
  renderChildren(parseInert(html).body, 0, links)

function renderChildren(parent: Node, depth: number, links: ArtifactLinks): ReactNode {
  const children = Array.from(parent.childNodes, (node) => renderNode(node, depth, links))
  return createElement(Fragment, null, ...children)
}

function renderNode(node: Node, depth: number, links: ArtifactLinks): ReactNode {
  if (node.nodeType === Node.TEXT_NODE) return shownText(node)
  if (!(node instanceof Element) && node.nodeType !== Node.ELEMENT_NODE) return null
  const element = node as Element
  const tag = element.localName
  if (depth >= mostDepth) return element.textContent
  const [, level] = /^h([1-6])$/.exec(tag) ?? []
  if (level !== undefined) {
    const own = Math.min(6, Number(level) + headingsAbove)
    return createElement(`h${own}`, null, renderChildren(element, depth + 1, links))
  }
  if (tag === 'a') return renderLink(element, depth, links)
  if (tag === 'img') return renderImage(element, links)
  if (!plainTags.has(tag)) return null
  if (voidTags.has(tag)) return createElement(tag)
  return createElement(
    tag,
    { ...attributesOf(element), ...styleOf(element) },
    renderChildren(element, depth + 1, links),
  )
}

/** Code stays as it was typed. */
function shownText({ textContent, parentElement }: Node): string {
  const isCode = parentElement?.closest('code, pre, kbd, samp') != null
  return isCode ? (textContent ?? '') : showLabel(textContent ?? '')
}

function attributesOf(element: Element): Record<string, string | number | boolean> {
  const known = (attributes[element.localName] ?? []).filter(([from]) => element.hasAttribute(from))
  return Object.fromEntries(
    known.map(([from, to]) => {
      const value = element.getAttribute(from) ?? ''
      return [to, from === 'title' ? value : from === 'open' ? true : Math.min(1000, Number(value) || 1)]
    }),
  )
}

/** Columns of figures are aligned to the right. */
function styleOf(element: Element): { style?: CSSProperties } {
  const align = alignments.find((each) => each === element.getAttribute('align'))
  const isCell = element.localName === 'td' || element.localName === 'th'
  return isCell && align !== undefined ? { style: { textAlign: align } } : {}
}

const alignments = ['left', 'center', 'right'] as const

function renderLink(element: Element, depth: number, links: ArtifactLinks): ReactNode {
  const href = safeUrl(element.getAttribute('href'), ['http:', 'https:', 'mailto:'])
  const children = renderChildren(element, depth + 1, links)
  const artifact = resolveArtifact(element.getAttribute('href'), links)
  if (artifact !== null) return renderArtifact(artifact, children)
  if (href === null) return children
  return createElement(
    'a',
    { href: href.href, title: href.href, rel: 'nofollow noopener noreferrer' },
    children,
  )
}

/** Artifacts are untrusted files, which pages offer as downloads only. */
function renderArtifact(address: string | undefined, children: ReactNode): ReactNode {
  return address === undefined
    ? createElement('span', { title: 'The build has no such artifact' }, children)
    : createElement('a', { href: address, download: true }, children)
}

/** An image of another site would tell that site who reads the build, so it becomes a link. */
function renderImage(element: Element, links: ArtifactLinks): ReactNode {
  const source = element.getAttribute('src') ?? ''
  const url = /^(https?:|\/)/i.test(source) ? safeUrl(source, ['http:', 'https:']) : null
  const alt = element.getAttribute('alt') ?? ''
  const artifact = resolveArtifact(source, links)
  if (artifact === undefined) return renderArtifact(artifact, alt === '' ? 'Image' : alt)
  if (artifact !== null) return createElement(ArtifactImage, { download: artifact, alt, ...sizeOf(element) })
  if (url === null) return alt
  // Pages download what the API answers, and do not show it.
  if (url.origin === location.origin && url.pathname.startsWith('/v2/'))
    return createElement('a', { href: url.href }, alt === '' ? 'Image' : alt)
  if (url.origin === location.origin) return createElement('img', { src: url.href, alt, loading: 'lazy' })
  const text = `Image${alt === '' ? '' : ` “${alt}”`} on ${url.host}`
  return createElement('a', { href: url.href, rel: 'nofollow noopener noreferrer' }, text)
}

/** In pixels, where the text gives them. */
function sizeOf(element: Element): { width?: number; height?: number } {
  const read = (name: 'width' | 'height') => {
    const text = element.getAttribute(name) ?? ''
    return /^[1-9]\d{0,3}$/.test(text) ? Number(text) : null
  }
  const [width, height] = [read('width'), read('height')]
  return { ...(width === null ? {} : { width }), ...(height === null ? {} : { height }) }
}

function safeUrl(text: string | null, schemes: readonly string[]): URL | null {
  if (text === null || !URL.canParse(text, location.href)) return null
  const url = new URL(text, location.href)
  return schemes.includes(url.protocol) ? url : null
}
