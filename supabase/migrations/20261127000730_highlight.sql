-- Marks the words of a query in a text, as safe HTML.

-- ts_headline drops what looks like markup (Vec<T>), and its parser finds other words than
-- tasklens.plain_text. So private-use characters, which the text itself is rid of, stand for <, >
-- and &, for the marks, for edges of words, around C++ and C#, which are spelled out, and for what
-- is left out. In the end they become entities, tags and dots.
create function tasklens.highlight(text text, wanted tsquery, language text default 'english') returns text
language plpgsql stable security invoker set search_path = ''
as $$
declare
  mark constant text := u&'\E000';
  unmark constant text := u&'\E001';
  edge constant text := u&'\E005';
  spelled constant text := u&'\E006';
  unspelled constant text := u&'\E007';
  gap constant text := u&'\E008';
  excerpt_length constant integer := 200;
  plain text := left(text, 20000);
  asked constant text := wanted::text;
  scripts constant text := tasklens.unspaced_scripts();
  common_mark constant text := tasklens.word_mark('common');
  common text; -- words that stemming drops, if they are asked for, as alternatives
  pairs text[]; -- signs, and characters of scripts without spaces
  first_pair integer;
  source text;
  line text;
begin
  -- From U+0300 on: combining marks, the private-use characters, and the scripts without spaces.
  -- Most texts have none.
  if plain ~ '[\u0300-\uffff]' then
    plain := regexp_replace(tasklens.compose_text(plain), '[\ue000-\ue008]+', '', 'g');
  end if;
  -- Not translate(), which compares every character with each one in its list.
  plain := replace(replace(replace(plain, '<', u&'\E002'), '>', u&'\E003'), '&', u&'\E004');

  -- The parser has no words for signs and pairs: these are marked here, in an excerpt around the
  -- first. Of a long query the first hundred.
  if asked ~ ('''' || tasklens.word_mark('sign') || '|[' || scripts || ']') then
    pairs := array(
      select coalesce(m[1], translate(convert_from(decode(m[2], 'hex'), 'utf8'), '<>&', u&'\E002\E003\E004'))
      from regexp_matches(asked, '''(?:([' || scripts || ']{1,2})|' || tasklens.word_mark('sign') || '([0-9a-f]+))', 'g') with ordinality as r(m, place)
      order by place limit 100);
    first_pair := (select min(nullif(strpos(plain, p), 0)) from unnest(pairs) p);
  end if;
  if first_pair is not null then
    first_pair := case when length(plain) <= excerpt_length then 1 else greatest(1, first_pair - 40) end;
    plain := concat(case when first_pair > 1 then gap end,
      regexp_replace(substr(plain, first_pair, excerpt_length), (
        -- Of pairs, which overlap, whole runs.
        select concat_ws('|', string_agg(e.pair, '|') filter (where length(p) <> 2), '(?:(?=' || string_agg(e.pair, '|') filter (where length(p) = 2) || ').)+.')
        from unnest(pairs) p cross join lateral (select regexp_replace(p, '([^[:alnum:]])', '\\\1', 'g') as pair) e), mark || '\&' || unmark, 'g'),
      case when length(plain) >= first_pair + excerpt_length then gap end);
  end if;

  if wanted is null then
    line := concat(left(plain, excerpt_length), case when length(plain) > excerpt_length then gap end);
  else
    if strpos(asked, common_mark || '''') > 0 then
      common := '(?<![[:alnum:]])(' || (
        select string_agg(distinct w.m[1], '|') from regexp_matches(plain, '([[:alpha:]]+)', 'g') w(m)
        where strpos(asked, '''' || lower(extensions.unaccent(w.m[1])) || common_mark || '''') > 0) || ')(?![[:alnum:]])';
    end if;
    -- Whole names if their parts are not wanted: "tableview" marks TableView.
    foreach source in array array[tasklens.part_names(plain, edge, spelled, unspelled), tasklens.part_names(plain, '', spelled, unspelled)] loop
      source := coalesce(regexp_replace(source, common, '\1' || common_mark, 'g'), source);
      source := regexp_replace(source, '([^[:alnum:][:space:]])(?=[[:alnum:]])', '\1' || edge, 'g');
      line := replace(ts_headline(('tasklens.' || language)::regconfig, source, wanted,
        format('StartSel="%s", StopSel="%s", ', mark, unmark) || case when first_pair is not null or length(plain) <= excerpt_length then 'HighlightAll=true'
          else format('MaxWords=30, MinWords=12, ShortWord=0, MaxFragments=2, FragmentDelimiter="%s"', gap) end), common_mark, '');
      exit when strpos(line, mark) > 0 or plain !~ '[[:alnum:]][[:upper:]]';
    end loop;
    if first_pair is not null then
      -- ts_headline may have marked words within what is marked.
      line := (
        select string_agg(case when d.piece = mark and d.depth > 1 or d.piece = unmark and d.depth > 0 then '' else d.piece end, '' order by d.place)
        from (
          select m[1] as piece, r.place, sum(case m[1] when mark then 1 when unmark then -1 else 0 end) over (order by r.place) as depth
          from regexp_matches(line, u&'[\E000\E001]|[^\E000\E001]+', 'g') with ordinality as r(m, place)
        ) d);
    elsif length(plain) > excerpt_length then
      -- Only between fragments that are not neighbours in the text is something left out.
      line := (
        select string_agg(case when f.place = 1 and not starts_with(f.whole, f.piece) then gap else '' end || f.marked
            || case when case when f.next is null then right(f.whole, length(f.piece)) = f.piece else strpos(f.whole, f.piece || f.next) > 0 end
              then ' ' else gap end, '' order by f.place)
        from (
          select p.marked, p.place, q.piece, lead(q.piece) over (order by p.place) as next, regexp_replace(replace(source, common_mark, ''), '\s+', '', 'g') as whole
          from string_to_table(line, gap) with ordinality as p(marked, place)
          cross join lateral (select regexp_replace(p.marked, u&'[\\s\E000\E001]+', '', 'g') as piece) q
        ) f);
    end if;
    -- Adjacent marks within a name become one.
    line := replace(regexp_replace(line, u&'\E001\E005*([._:/-]*)\E005*\E000', '\1', 'g'), edge, '');
  end if;
  -- An excerpt may begin after the first mark of a spelled name or end before the last.
  if line ~ u&'[\E006\E007]' then
    line := regexp_replace(regexp_replace(line, u&'\E006(\E000?[A-Za-z])plusplus(\E001?)\E007?', '\1++\2', 'g'), u&'plusplus(\E001?)\E007', '++\1', 'g');
    line := regexp_replace(regexp_replace(line, u&'\E006(\E000?[A-Za-z])sharp(\E001?)\E007?', '\1#\2', 'g'), u&'sharp(\E001?)\E007', '#\1', 'g');
    line := translate(line, spelled || unspelled, '');
  end if;
  if strpos(line, gap) > 0 then
    line := regexp_replace(regexp_replace(btrim(line), u&'(?<=\\S)\\s*\E008\\s*(?=\\S)', ' … ', 'g'), u&'\\s*\E008\\s*', '…', 'g');
  end if;
  return replace(replace(replace(replace(replace(replace(replace(line,
    u&'\E002', '&lt;'), u&'\E003', '&gt;'), u&'\E004', '&amp;'), '"', '&quot;'), '''', '&#39;'), mark, '<mark>'), unmark, '</mark>');
end
$$;
comment on function tasklens.highlight is 'An HTML-escaped excerpt of a text in a language, with <mark> around the words of the query, and … where it leaves text out.';

insert into tasklens.migrations (version) values ('20261127000730');
