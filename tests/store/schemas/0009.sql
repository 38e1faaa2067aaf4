BEGIN TRANSACTION;
CREATE TABLE access_tokens (
	id TEXT NOT NULL, 
	user TEXT NOT NULL, 
	name TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	created FLOAT NOT NULL, 
	created_by TEXT NOT NULL, 
	expires FLOAT NOT NULL, 
	last_used FLOAT, 
	revoked FLOAT, 
	PRIMARY KEY (id)
);
INSERT INTO "access_tokens" VALUES('60ce2f6661','daemon','login3','submit','24a5193bdcf168b5a8644b2a1edacb25cc2eb5efaa355158dbcff4c43dee16ff',1.79538363549732875824e+09,'root',1.79797563549732875823e+09,NULL,NULL);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0009');
CREATE TABLE archives (
	name TEXT NOT NULL, 
	folder TEXT NOT NULL, 
	began FLOAT NOT NULL, 
	latest FLOAT NOT NULL, 
	jobs INTEGER NOT NULL, 
	first_job INTEGER, 
	last_job INTEGER, 
	lines_size INTEGER NOT NULL, 
	swf_size INTEGER NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE clusters (
	name TEXT NOT NULL, 
	processors INTEGER NOT NULL, 
	version TEXT NOT NULL, 
	seen FLOAT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "clusters" VALUES('delft',16,'simulated',1.79538363324266934395e+09);
INSERT INTO "clusters" VALUES('leiden',8,'simulated',1.79538363325431656837e+09);
CREATE TABLE components (
	job INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	component INTEGER NOT NULL, 
	cluster TEXT NOT NULL, 
	processors INTEGER NOT NULL, 
	reserves BOOLEAN NOT NULL, 
	seq INTEGER NOT NULL, 
	phase TEXT NOT NULL, 
	step TEXT NOT NULL, 
	reservation BOOLEAN NOT NULL, 
	started BOOLEAN NOT NULL, 
	native_id TEXT, 
	submit_time FLOAT, 
	hosts TEXT NOT NULL, 
	start_time FLOAT, 
	end_time FLOAT, 
	exit_code INTEGER, 
	cause TEXT, 
	detail TEXT NOT NULL, term BIGINT DEFAULT '0' NOT NULL, 
	PRIMARY KEY (job, attempt, component)
);
INSERT INTO "components" VALUES(1,1,0,'delft',2,0,1,'gone','',0,1,'1',1.79538363352952551844e+09,'vm',1.79538363359116935735e+09,1.79538363359916925427e+09,0,NULL,'',100000000002910152);
INSERT INTO "components" VALUES(2,1,0,'delft',2,0,2,'gone','',0,1,'2',1.79538363378080511093e+09,'vm',1.79538363380329012868e+09,1.79538363380329012868e+09,3,'exit','',100000000001307272);
INSERT INTO "components" VALUES(3,1,0,'delft',4,1,3,'gone','',1,1,'3',1.79538363420377922053e+09,'vm',1.79538363433116936684e+09,1.7953836343431694507e+09,0,NULL,'',100000000003145080);
INSERT INTO "components" VALUES(3,1,1,'leiden',4,1,3,'gone','',1,1,'1',1.79538363420558214188e+09,'vm',1.79538363432716941833e+09,1.79538363433516931534e+09,0,NULL,'',100000000003145080);
INSERT INTO "components" VALUES(5,1,0,'delft',2,0,4,'gone','',0,1,'4',1.7953836348392534256e+09,'vm',1.79538363485602545741e+09,1.79538363485602545741e+09,0,NULL,'',100000000001071601);
INSERT INTO "components" VALUES(6,1,0,'delft',2,0,5,'started','',0,1,'5',1.79538363570426082608e+09,'vm',1.79538363575568342203e+09,NULL,NULL,NULL,'RUNNING',100000000007499435);
INSERT INTO "components" VALUES(7,1,0,'delft',4,1,6,'started','',1,1,'6',1.79538363610827636724e+09,'vm',1.7953836362525720596e+09,NULL,NULL,NULL,'RUNNING',100000000000020690);
INSERT INTO "components" VALUES(7,1,1,'leiden',4,1,6,'started','',1,1,'2',1.79538363610400509835e+09,'vm',1.79538363624903774254e+09,NULL,NULL,NULL,'RUNNING',100000000000020690);
INSERT INTO "components" VALUES(8,1,0,'delft',2,0,7,'started','',0,1,'7',1.79538363662059783937e+09,'vm',1.79538363664919304847e+09,NULL,NULL,NULL,'RUNNING',100000000003083600);
INSERT INTO "components" VALUES(9,1,0,'delft',1,0,8,'started','clean',0,1,'8',1.79538363695380687708e+09,'vm',1.79538363700316953657e+09,NULL,NULL,NULL,'RUNNING',100000000006618814);
CREATE TABLE events (
	id INTEGER NOT NULL, 
	time FLOAT NOT NULL, 
	job INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	what TEXT NOT NULL, 
	detail JSON NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "events" VALUES(1,1.79538363345842289929e+09,1,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(2,1.79538363345842289929e+09,1,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(3,1.79538363345842289929e+09,1,1,'submitting','{}');
INSERT INTO "events" VALUES(4,1.79538363355664944654e+09,1,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "1"}');
INSERT INTO "events" VALUES(5,1.79538363362264108665e+09,1,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(6,1.79538363362264108665e+09,1,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(7,1.79538363362264108665e+09,1,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(8,1.79538363377511382104e+09,2,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(9,1.79538363377511382104e+09,2,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(10,1.79538363377511382104e+09,2,1,'submitting','{}');
INSERT INTO "events" VALUES(11,1.79538363378183865549e+09,2,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "2"}');
INSERT INTO "events" VALUES(12,1.79538363381058835984e+09,2,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(13,1.79538363381058835984e+09,2,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 3}');
INSERT INTO "events" VALUES(14,1.79538363381058835984e+09,2,1,'failed','{"why": "component 0 in delft: its script ended with exit code 3", "exit_code": 3}');
INSERT INTO "events" VALUES(15,1.79538363417528867719e+09,3,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(16,1.79538363417528867719e+09,3,1,'placed','{"clusters": ["delft", "leiden"], "processors": [4, 4]}');
INSERT INTO "events" VALUES(17,1.79538363418154168129e+09,3,1,'reserved','{"component": 0, "cluster": "delft", "processors": 4}');
INSERT INTO "events" VALUES(18,1.79538363419523882861e+09,3,1,'reserved','{"component": 1, "cluster": "leiden", "processors": 4}');
INSERT INTO "events" VALUES(19,1.79538363419523882861e+09,3,1,'submitting','{}');
INSERT INTO "events" VALUES(20,1.79538363420617389683e+09,3,1,'submitted','{"component": 1, "cluster": "leiden", "native_id": "1"}');
INSERT INTO "events" VALUES(21,1.79538363421053433419e+09,3,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "3"}');
INSERT INTO "events" VALUES(22,1.79538363421053433419e+09,3,1,'waiting','{}');
INSERT INTO "events" VALUES(23,1.79538363423320198059e+09,3,1,'at the barrier','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(24,1.79538363427279448508e+09,3,1,'at the barrier','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(25,1.79538363431522536278e+09,3,1,'opened','{}');
INSERT INTO "events" VALUES(26,1.79538363433540987972e+09,3,1,'started','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(27,1.79538363436126375194e+09,3,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(28,1.79538363436126375194e+09,3,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(29,1.79538363444282150272e+09,3,1,'ended','{"component": 1, "cluster": "leiden", "exit_code": 0}');
INSERT INTO "events" VALUES(30,1.79538363444282150272e+09,3,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(31,1.79538363457902026181e+09,4,0,'submitted','{"user": "root", "hold": true}');
INSERT INTO "events" VALUES(32,1.79538363466148424146e+09,4,0,'cancel','{"by": "root"}');
INSERT INTO "events" VALUES(33,1.79538363466148424146e+09,4,0,'cancelled','{"why": "cancelled by root"}');
INSERT INTO "events" VALUES(34,1.7953836348190205097e+09,5,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(35,1.7953836348190205097e+09,5,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(36,1.79538363482653522485e+09,5,1,'files sent','{"component": 0, "cluster": "delft", "files": 1, "bytes": 10}');
INSERT INTO "events" VALUES(37,1.79538363482653522485e+09,5,1,'submitting','{}');
INSERT INTO "events" VALUES(38,1.79538363484162116052e+09,5,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "4"}');
INSERT INTO "events" VALUES(39,1.79538363486848711963e+09,5,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(40,1.79538363486848711963e+09,5,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(41,1.79538363488400554658e+09,5,1,'results back','{"component": 0, "cluster": "delft", "files": 1, "bytes": 10, "folder": "@FOLDER@/metabroker-5.0"}');
INSERT INTO "events" VALUES(42,1.79538363488400554658e+09,5,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(43,1.7953836356919441223e+09,6,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(44,1.7953836356919441223e+09,6,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(45,1.7953836356919441223e+09,6,1,'submitting','{}');
INSERT INTO "events" VALUES(46,1.79538363571135687829e+09,6,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "5"}');
INSERT INTO "events" VALUES(47,1.79538363577150273317e+09,6,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(48,1.7953836360677728653e+09,7,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(49,1.7953836360677728653e+09,7,1,'placed','{"clusters": ["delft", "leiden"], "processors": [4, 4]}');
INSERT INTO "events" VALUES(50,1.79538363608123064038e+09,7,1,'reserved','{"component": 0, "cluster": "delft", "processors": 4}');
INSERT INTO "events" VALUES(51,1.79538363609279417987e+09,7,1,'reserved','{"component": 1, "cluster": "leiden", "processors": 4}');
INSERT INTO "events" VALUES(52,1.79538363609279417987e+09,7,1,'submitting','{}');
INSERT INTO "events" VALUES(53,1.79538363610581278798e+09,7,1,'submitted','{"component": 1, "cluster": "leiden", "native_id": "2"}');
INSERT INTO "events" VALUES(54,1.79538363611532497407e+09,7,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "6"}');
INSERT INTO "events" VALUES(55,1.79538363611532497407e+09,7,1,'waiting','{}');
INSERT INTO "events" VALUES(56,1.79538363616745042794e+09,7,1,'at the barrier','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(57,1.79538363617693805694e+09,7,1,'at the barrier','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(58,1.79538363623041963574e+09,7,1,'opened','{}');
INSERT INTO "events" VALUES(59,1.79538363626271176335e+09,7,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(60,1.79538363626816391944e+09,7,1,'started','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(61,1.79538363661499667162e+09,8,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(62,1.79538363661499667162e+09,8,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(63,1.79538363661499667162e+09,8,1,'submitting','{}');
INSERT INTO "events" VALUES(64,1.79538363663017511368e+09,8,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "7"}');
INSERT INTO "events" VALUES(65,1.79538363666099643704e+09,8,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(66,1795383636.93892,9,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(67,1795383636.93892,9,1,'placed','{"clusters": ["delft"], "processors": [1]}');
INSERT INTO "events" VALUES(68,1795383636.93892,9,1,'submitting','{}');
INSERT INTO "events" VALUES(69,1.79538363696652197845e+09,9,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "8"}');
INSERT INTO "events" VALUES(70,1.7953836370131857395e+09,9,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(71,1.79538363729246711725e+09,10,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(72,1.79538363746481561657e+09,11,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(73,1.79538363757571482661e+09,12,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(74,1.79538363769606494906e+09,13,0,'submitted','{"user": "root", "hold": true}');
INSERT INTO "events" VALUES(75,1.79538363929193472857e+09,9,1,'cancel','{"by": "root"}');
CREATE TABLE facts (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "facts" VALUES('instance','8cc41623');
INSERT INTO "facts" VALUES('key','468cd3af2ba8ccf5747f2d418dacace6');
INSERT INTO "facts" VALUES('batch','237a1129e6011651');
INSERT INTO "facts" VALUES('policy memory','{"clusters": ["delft", "leiden"], "memory": [12, [], []]}');
CREATE TABLE jobs (
	id INTEGER NOT NULL, 
	user TEXT NOT NULL, 
	name TEXT NOT NULL, 
	state TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	sizes JSON NOT NULL, 
	clusters JSON, 
	queue TEXT NOT NULL, 
	local TEXT, 
	home TEXT, 
	time_limit INTEGER NOT NULL, 
	submit_time FLOAT NOT NULL, 
	seq INTEGER NOT NULL, 
	queued_at FLOAT NOT NULL, 
	attempt INTEGER NOT NULL, 
	submission_failures INTEGER NOT NULL, 
	completion_failures INTEGER NOT NULL, 
	start_time FLOAT, 
	end_time FLOAT, 
	exit_code INTEGER, 
	deadline FLOAT, 
	goal TEXT, 
	"by" TEXT NOT NULL, stages_in BOOLEAN DEFAULT 0 NOT NULL, stages_out BOOLEAN DEFAULT 0 NOT NULL, uncertain TEXT, shape JSON, 
	PRIMARY KEY (id)
);
INSERT INTO "jobs" VALUES(1,'root','job.sh','COMPLETED','','[2]','null','',NULL,NULL,3600,1.79538363345842289929e+09,1,1.79538363345842289929e+09,1,0,0,1.79538363359116935735e+09,1.79538363362264108665e+09,0,NULL,NULL,'',0,0,NULL,NULL);
INSERT INTO "jobs" VALUES(2,'root','job.sh','FAILED','component 0 in delft: its script ended with exit code 3','[2]','null','',NULL,NULL,3600,1.79538363377511382104e+09,2,1.79538363377511382104e+09,1,0,1,1.79538363380329012868e+09,1.79538363381058835984e+09,3,NULL,NULL,'',0,0,NULL,NULL);
INSERT INTO "jobs" VALUES(3,'root','job.sh','COMPLETED','','[4, 4]','null','',NULL,NULL,3600,1.79538363417528867719e+09,3,1.79538363417528867719e+09,1,0,0,1.79538363431522536278e+09,1.79538363444282150272e+09,0,NULL,NULL,'',0,0,NULL,NULL);
INSERT INTO "jobs" VALUES(4,'root','job.sh','CANCELLED','cancelled by root','[1]','null','',NULL,NULL,3600,1.79538363457902026181e+09,0,0.0,0,0,0,NULL,1.79538363466148424146e+09,NULL,NULL,NULL,'root',0,0,NULL,NULL);
INSERT INTO "jobs" VALUES(5,'root','job.sh','COMPLETED','','[2]','null','',NULL,NULL,3600,1.7953836348190205097e+09,4,1.7953836348190205097e+09,1,0,0,1.79538363485602545741e+09,1.79538363488400554658e+09,0,NULL,NULL,'',1,1,NULL,NULL);
INSERT INTO "jobs" VALUES(6,'root','job.sh','RUNNING','','[2]','null','',NULL,NULL,3600,1.7953836356919441223e+09,5,1.7953836356919441223e+09,1,0,0,1.79538363575568342203e+09,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL);
INSERT INTO "jobs" VALUES(7,'root','job.sh','RUNNING','','[4, 4]','null','',NULL,NULL,3600,1.7953836360677728653e+09,6,1.7953836360677728653e+09,1,0,0,1.79538363623041963574e+09,NULL,NULL,1.79538726623041963574e+09,NULL,'',0,0,NULL,NULL);
INSERT INTO "jobs" VALUES(8,'root','job.sh','RUNNING','','[2]','null','',NULL,NULL,3600,1.79538363661499667162e+09,7,1.79538363661499667162e+09,1,0,0,1.79538363664919304847e+09,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL);
INSERT INTO "jobs" VALUES(9,'root','job.sh','RUNNING','cancelled by root; waits until its clusters have ended it','[1]','null','',NULL,NULL,3600,1795383636.93892,8,1795383636.93892,1,0,0,1.79538363700316953657e+09,NULL,NULL,NULL,'cancel','root',0,0,NULL,NULL);
INSERT INTO "jobs" VALUES(10,'root','job.sh','QUEUED','','[16]','null','',NULL,NULL,3600,1.79538363729246711725e+09,9,1.79538363729246711725e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL);
INSERT INTO "jobs" VALUES(11,'root','job.sh','QUEUED','','[8, 8]','null','',NULL,NULL,3600,1.79538363746481561657e+09,10,1.79538363746481561657e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL);
INSERT INTO "jobs" VALUES(12,'root','job.sh','QUEUED','','[8]','["leiden"]','','leiden',NULL,3600,1.79538363757571482661e+09,11,1.79538363757571482661e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL);
INSERT INTO "jobs" VALUES(13,'root','job.sh','HELD','held by root at submission','[2]','null','',NULL,NULL,3600,1.79538363769606494906e+09,0,0.0,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0,NULL,NULL);
CREATE TABLE leadership (
	only INTEGER NOT NULL, 
	term BIGINT NOT NULL, 
	holder TEXT NOT NULL, 
	expires FLOAT NOT NULL, claim TEXT DEFAULT '' NOT NULL, seconds FLOAT DEFAULT '0' NOT NULL, renewals BIGINT DEFAULT '0' NOT NULL, 
	PRIMARY KEY (only), 
	UNIQUE (term)
);
CREATE TABLE requests (
	id INTEGER NOT NULL, 
	broker TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	caller JSON NOT NULL, 
	body JSON NOT NULL, 
	expires FLOAT NOT NULL, 
	taken BIGINT, 
	answered BOOLEAN DEFAULT 0 NOT NULL, 
	answer JSON, 
	PRIMARY KEY (id)
);
CREATE TABLE scripts (
	job INTEGER NOT NULL, 
	user TEXT NOT NULL, 
	request_id TEXT, 
	secret TEXT NOT NULL, 
	script BLOB NOT NULL, 
	spec JSON NOT NULL, 
	PRIMARY KEY (job), 
	UNIQUE (user, request_id)
);
INSERT INTO "scripts" VALUES(1,'root','a61ee30c-b60d-4ef9-ba33-61514b758cd4','2.f28eecffa04bc3bdd9860b89',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(2,'root','1d213492-277e-48d3-b83a-3203f1e5c73b','2.b20d770de437c71ddb844838',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["3", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(3,'root','1091137a-4122-493c-b040-bc1647c472dd','2.4c6d9870478cbda4d2c92d0c',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(4,'root','6fb249be-d873-4301-a68e-62e5444e77e0','2.e9c21407690f6abe894d7c38',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(5,'root','cffe774c-179f-492a-87d9-0845c920f534','2.ceed685a9863bb2af9ab6802',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": ["input"], "stage_out": ["*"], "submit_dir": "@FOLDER@", "owner": null}');
INSERT INTO "scripts" VALUES(6,'root','5a21ae0b-2102-4a3e-8bd7-e30bffaf4381','2.e60c0cfa38c71065c98d1372',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(7,'root','f9509245-078b-402f-be32-f0a62b3b0639','2.c5635959a5efd61715e47a16',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(8,'root','once','2.c802059fa792db0d35f4c46d',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(9,'root','d7ceb241-6a4e-4521-bc84-e7a54656b48c','2.8c1e57aa092f8b93feb1f1eb',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", "end"], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(10,'root','523c1075-5ac8-4b4f-9190-28433d5f7d5a','2.1f6994d17ff78d4557e28d43',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(11,'root','d8beae56-ad0b-4fde-8d73-9a01403231d2','2.3be78b136f31b45a3591a36c',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(12,'root','38604490-a2cb-4e4b-995c-80cc5d733a55','2.624e5b74472479248f6ba1b4',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(13,'root','95773c59-fa8d-4ed8-859c-d399845c74a3','2.c63aabf944beb2b26538fb66',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"script_name": "job.sh", "chdir": "@FOLDER@", "args": ["0", ""], "name": "job.sh", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
CREATE INDEX events_by_job ON events (job);
CREATE INDEX access_tokens_by_user ON access_tokens (user);
CREATE INDEX jobs_live ON jobs (state) WHERE state NOT IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT');
CREATE INDEX jobs_ended ON jobs (end_time, id, user, state) WHERE state IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT');
CREATE INDEX components_not_gone ON components (cluster) WHERE phase != 'gone' OR step != '';
COMMIT;
