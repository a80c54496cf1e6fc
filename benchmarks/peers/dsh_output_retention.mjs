// Does the work that programs.py describes with the package in the folder that is the first argument.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const { main } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const { ItemRetainer, TextRetainer } = await import(pathToFileURL(join(folder, main)));

const work = JSON.parse(readFileSync(0, "utf8"));
const chunks = work.type === "bytes" ? work.chunks.map((chunk) => new Uint8Array(Buffer.from(chunk, "base64"))) : work.chunks;
const { kind, head, tail } = work.strategy;

function made() {
  if (work.kind === "items") return new ItemRetainer({ kind, maxItems: head });
  if (kind === "head_tail") return new TextRetainer({ kind: "headTail", headBytes: head, tailBytes: tail });
  return new TextRetainer({ kind, maxBytes: kind === "head" ? head : tail });
}

const now = () => Number(process.hrtime.bigint());
const best = { stream_ns: Infinity, push_ns: Infinity, finish_ns: Infinity };
const end = now() + work.seconds * 1e9;
let result;
let rounds = 0;
do {
  const start = now();
  const retainer = made();
  const before = now();
  for (const chunk of chunks) retainer.push(chunk);
  const pushed = now();
  result = retainer.finish();
  const finished = now();
  best.stream_ns = Math.min(best.stream_ns, finished - start);
  best.push_ns = Math.min(best.push_ns, (pushed - before) / chunks.length);
  best.finish_ns = Math.min(best.finish_ns, finished - pushed);
  rounds += 1;
} while (now() < end);

const omitted = result.omittedBytes ?? result.omitted;
const answer = { runtime: `node ${process.version}`, rounds, ...best, omitted: omitted.kind === "none" ? 0 : omitted.count };
process.stdout.write(JSON.stringify({ ...answer, text: result.text, items: result.items }));
