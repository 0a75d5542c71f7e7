/** Reads server-sent events: the name and the data of each. */
export async function* readEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<{ event: string; data: string }, void, void> {
  const reader = stream.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  let event = '';
  let data: string[] = [];
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split('\n');
      rest = lines.pop() as string;
      for (const ended of lines) {
        const line = ended.endsWith('\r') ? ended.slice(0, -1) : ended;
        const [, field, text] = /^([^:]*):? ?(.*)$/.exec(line) as unknown as [string, string, string];
        if (field === 'event') event = text;
        else if (field === 'data') data.push(text);
        else if (line === '') {
          if (data.length > 0) yield { event, data: data.join('\n') };
          event = '';
          data = [];
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => {}); // ends the request if the reader leaves early
  }
}
